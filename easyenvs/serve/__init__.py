"""Games in the browser: a small web server on the loopback interface, and the page that it serves."""
