"""A game that humans and policies play together, and the interfaces for it."""
