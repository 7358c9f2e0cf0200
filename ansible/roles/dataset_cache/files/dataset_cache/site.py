"""Files of the site's file system, opened with the rights of a user."""

import os
import pwd
import socket
import stat
import threading

from dataset_cache.dataset import NotCached


class UserFiles:
    """Files below a folder, opened by a child process with the rights of a user; their descriptors are passed to this process."""

    def __init__(self, folder, uid):
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        user = pwd.getpwuid(uid) if os.getuid() != uid else None
        groups = os.getgrouplist(user.pw_name, user.pw_gid) if user else []
        self._pid = os.fork()
        if self._pid == 0:
            try:
                # No descriptor of another request: its child would not see the end of it.
                os.dup2(theirs.fileno(), 3)
                os.closerange(4, 1 << 16)
                if user:
                    os.setgroups(groups)
                    os.setgid(user.pw_gid)
                    os.setuid(uid)
                self._serve(folder, socket.socket(fileno=3))
            finally:
                os._exit(0)
        theirs.close()

    @staticmethod
    def _serve(folder, connection):
        while request := connection.recv(8192):
            try:
                # Not blocking: a pipe in the place of a file must not hold the child.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                descriptor = os.open(os.path.join(folder, request.decode()), flags)
            except OSError as error:
                connection.send(str(error.strerror).encode())
                continue
            socket.send_fds(connection, [b"ok"], [descriptor])
            os.close(descriptor)

    def open(self, path):
        """Return a file for reading. Raises NotCached."""
        with self._lock:
            self._socket.send(path.encode())
            answer, descriptors, _, _ = socket.recv_fds(self._socket, 4096, 1)
        if not descriptors:
            raise NotCached(f"{path}: {answer.decode() or 'the reading process has ended'}")
        stream = os.fdopen(descriptors[0], "rb", buffering=0)
        if not stat.S_ISREG(os.fstat(descriptors[0]).st_mode):
            stream.close()
            raise NotCached(f"{path} is not a file")
        return stream

    def close(self):
        """End the child process."""
        self._socket.close()
        os.waitpid(self._pid, 0)
