"""Model server: one process serves one model version by the Open Inference protocol, version 2, over HTTP."""
