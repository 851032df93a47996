"""The games as other libraries' environments. An adapter translates and never decides; it knows no game."""
