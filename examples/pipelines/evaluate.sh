#!/bin/bash
# It writes $LANDBRIDGE_RUN_FOLDER/metrics.json: {"accuracy": 0.97}.
set -euo pipefail
srun python evaluate.py --model "$LANDBRIDGE_RUN_FOLDER/model.onnx" --metrics "$LANDBRIDGE_RUN_FOLDER/metrics.json"
