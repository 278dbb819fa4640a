"""How commands end: exit codes, and the error that a user can mend."""

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_INTERRUPTED = 130


class CommandError(Exception):
    """Something that the user can mend; the message says how."""
