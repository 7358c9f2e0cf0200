"""Threads of the mover's service."""

import pytest

from landbridge.live.staging import service


def test_a_thread_goes_on_after_an_unexpected_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(service, "INTERVAL_SECONDS", 0.0)
    errors = [RecursionError("deep"), MemoryError(), SystemExit()]

    def cycle() -> bool:
        raise errors.pop(0)

    with pytest.raises(SystemExit):
        service._repeat(cycle)
    assert "RecursionError: deep" in capsys.readouterr().err
