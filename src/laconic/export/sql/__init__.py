"""Models as SQL: statements, the terms that they are made of, and running them."""
