"""Games that exist for the tests alone: nothing in easyenvs knows them."""
