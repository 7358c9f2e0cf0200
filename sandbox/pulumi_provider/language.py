"""Stand-in of `pulumi-language-python`: runs a program in this plugin's interpreter."""

import os
import runpy
import sys
import threading
from pathlib import Path
from typing import Any

import pulumi
from google.protobuf import empty_pb2
from pulumi.automation._server import LanguageServer
from pulumi.runtime import settings
from pulumi.runtime.proto import language_pb2 as pb
from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2

from sandbox.pulumi_provider import hosted_programs as hosted
from sandbox.pulumi_provider.plugin import serve


class PythonHost(LanguageServer):
    """Language host: the Automation API's server of inline programs, with a program in a file."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.stopped = threading.Event()

    def Handshake(self, request: Any, context: Any) -> Any:
        return pb.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=getattr(pulumi, "__version__", "3.0.0"))

    def InstallDependencies(self, request: Any, context: Any) -> Any:
        return iter(())  # the interpreter that runs this has them

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:
        return pb.GetProgramDependenciesResponse()

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:
        return pb.RuntimeOptionsResponse()

    def Cancel(self, request: Any, context: Any) -> Any:
        self.stopped.set()
        return empty_pb2.Empty()

    def RunPlugin(self, request: Any, context: Any) -> Any:
        yield from hosted.run(request, context)

    def Run(self, request: Any, context: Any) -> Any:
        folder = request.info.program_directory or request.pwd
        entry = Path(folder, request.info.entry_point or ".").resolve()

        def program() -> None:
            # The Automation API's server does not set this; Pulumi's host does.
            settings.SETTINGS.root_directory = request.info.root_directory or folder
            runpy.run_path(str(entry), run_name="__main__")

        self.program = program
        os.chdir(request.pwd or folder)
        sys.path.insert(0, str(entry if entry.is_dir() else entry.parent))
        return super().Run(request, context)


def main(parent: int) -> None:
    """Run as a plugin of the engine; `parent` is the engine's process id."""
    host = PythonHost()
    serve(host, language_pb2_grpc.add_LanguageRuntimeServicer_to_server, host.stopped, parent)
