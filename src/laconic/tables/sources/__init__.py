"""Tables that are read in parts: files, databases, Dask."""
