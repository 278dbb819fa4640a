"""Models as functions in Python and JavaScript that need nothing else."""
