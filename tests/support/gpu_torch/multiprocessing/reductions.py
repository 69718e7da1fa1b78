"""A reference that does not keep a storage alive."""
import weakref


class StorageWeakRef:
    def __init__(self, storage):
        self.cdata, self._storage = storage._cdata, weakref.ref(storage)

    def expired(self):
        return self._storage() is None
