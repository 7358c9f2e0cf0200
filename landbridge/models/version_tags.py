"""Keys of a model version's tags in the registry."""

#: Digest of the files. A version is complete if and only if it has it.
DIGEST_TAG = "landbridge.digest"
#: Digits of a digest in keys of the archive and of pipelines' triggers. Landbridge's choice.
KEY_DIGITS = 16
CLASS_TAG, CONTENT_TAG = "landbridge.data_class", "landbridge.content"
SIGNATURE_TAG, SIGNER_TAG = "landbridge.signature", "landbridge.signer"
#: Version whose number was only passed over.
PLACEHOLDER_TAG = "landbridge.placeholder"
#: Run of a pipeline in which the version was registered.
PIPELINE_RUN_TAG = "landbridge.pipeline_run"
#: Champion for whose clients an operator accepted other inputs or outputs.
NEW_INTERFACE_TAG = "landbridge.new_interface"
