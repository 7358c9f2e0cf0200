#!/bin/bash
# The job's folder is that of the repository; results of a run are in $LANDBRIDGE_RUN_FOLDER.
set -euo pipefail
srun python train.py --output "$LANDBRIDGE_RUN_FOLDER"
