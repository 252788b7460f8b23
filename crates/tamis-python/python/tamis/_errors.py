"""What can go wrong. Every sentence comes from the library: the value, then the remedy."""

__all__ = [
    "AbsentError",
    "BudgetError",
    "ClosedError",
    "Error",
    "FileError",
    "FullError",
    "HashedKeysError",
    "LedgerError",
    "ListingError",
    "MismatchError",
    "OutOfMemoryError",
    "PlanError",
    "SecretError",
    "UniverseError",
    "UnsupportedError",
]


class Error(Exception):
    """Every error of tamis is one, except errors of the operating system, which are OSError."""


class PlanError(Error, ValueError):
    """No filter can be planned with these numbers."""


class MismatchError(Error, ValueError):
    """Two filters differ in shape or hash, so they cannot be merged or compared."""


class FileError(Error, ValueError):
    """The file or the bytes are damaged, or they hold something else."""


class SecretError(Error, ValueError):
    """The secret key is missing, wrong, too short or not needed."""


class AbsentError(Error, KeyError):
    """The key is certainly not in the filter, so it was not removed."""

    __str__ = Exception.__str__


class UniverseError(Error, ValueError):
    """The key or the dictionary does not belong to the universe of a zone filter."""


class FullError(Error, ValueError):
    """The filter holds as much as it can. Nothing was changed."""


class UnsupportedError(Error, TypeError):
    """This kind of filter cannot do that."""


class ListingError(Error, ValueError):
    """The items of a zone filter cannot be listed."""


class HashedKeysError(Error, ValueError):
    """The filter has keys that only this process can ask for, so it cannot be saved."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, or it is not allowed."""


class ClosedError(Error, ValueError):
    """The filter was closed."""


class LedgerError(Error, ValueError):
    """The ledger cannot be made, read or charged."""


class BudgetError(LedgerError):
    """The budget of the ledger does not allow the charge. Nothing was charged."""


for _name in __all__:
    globals()[_name].__module__ = "tamis"
