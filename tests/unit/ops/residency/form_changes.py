"""Changes of compiled forms that open a path for data."""

from collections.abc import Callable
from dataclasses import replace

from landbridge.ops.iam import Document
from landbridge.ops.residency.archive_forms import ArchiveForm
from landbridge.ops.residency.compiled import CompiledForms, DataCopy
from landbridge.plan.aws.node_security_group import SecurityGroupRule

Alter = Callable[[CompiledForms], CompiledForms]


def role_without(name: str, sid: str) -> Alter:
    """Return a change that takes a statement from a role."""

    def alter(forms: CompiledForms) -> CompiledForms:
        role = forms.roles[name]
        documents = tuple(
            Document(document.name, tuple(each for each in document.statements if each.get("Sid") != sid))
            for document in role.permissions
        )
        return replace(forms, roles={**forms.roles, name: replace(role, permissions=documents)})

    return alter


def role_with(name: str, actions: list[str], resources: list[str]) -> Alter:
    """Return a change that adds an Allow statement to a role."""
    statement = {"Sid": "Seeded", "Effect": "Allow", "Action": actions, "Resource": resources}

    def alter(forms: CompiledForms) -> CompiledForms:
        role = forms.roles[name]
        wider = replace(role, permissions=(*role.permissions, Document(f"role {name}", (statement,))))
        return replace(forms, roles={**forms.roles, name: wider})

    return alter


def key_of_partner(forms: CompiledForms) -> CompiledForms:
    """Let the role of internal's jobs use the key of partner's bucket, by the key's own policy."""
    bucket = forms.buckets["bucket:partner"]
    principal = {"AWS": forms.roles["job-internal"].arn}
    actions = ["kms:Decrypt", "kms:GenerateDataKey"]
    seeded = {"Sid": "Seeded", "Effect": "Allow", "Principal": principal, "Action": actions, "Resource": "*"}
    policy = Document(bucket.key_policy.name, (*bucket.key_policy.statements, seeded))
    return replace(forms, buckets={**forms.buckets, bucket.key: replace(bucket, key_policy=policy)})


def replica_elsewhere(forms: CompiledForms) -> CompiledForms:
    replica = forms.buckets["replica:internal"]
    return replace(forms, buckets={**forms.buckets, replica.key: replace(replica, region="eu-west-1")})


def open_endpoint(forms: CompiledForms) -> CompiledForms:
    seeded = {"Sid": "Seeded", "Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}
    policy = Document("policy of the endpoint s3", (seeded,))
    return replace(forms, endpoints={**forms.endpoints, ("us-east-1", "s3"): policy})


def clinic_as_operator(forms: CompiledForms) -> CompiledForms:
    accounts = {name: account for name, account in forms.accounts.items() if name != "clinic"}
    return replace(forms, accounts=accounts, operators=forms.operators | {"clinic"})


def clinic_in_partition(forms: CompiledForms) -> CompiledForms:
    partitions = tuple(
        replace(form, accounts=form.accounts | {"clinic"}) if form.accounts is not None else form
        for form in forms.partitions
    )
    return replace(forms, partitions=partitions)


def clinic_in_submit(forms: CompiledForms) -> CompiledForms:
    assert forms.submit is not None
    accounts = {**forms.submit.accounts, "clinic": frozenset({"onprem", "aws"})}
    return replace(forms, submit=replace(forms.submit, accounts=accounts))


def own_prolog(forms: CompiledForms) -> CompiledForms:
    assert forms.prolog is not None
    return replace(forms, prolog=replace(forms.prolog, program="/etc/slurm/prolog.d/*"))


def every_check_of_clinic(forms: CompiledForms) -> CompiledForms:
    return own_prolog(clinic_in_submit(clinic_in_partition(clinic_as_operator(forms))))


def one_mlflow_server(forms: CompiledForms) -> CompiledForms:
    """Restore an earlier fault: one MLflow server for all accounts, with one store in the first class in AWS."""
    (first, *_) = [server for server in forms.servers if server.stores_in == "internal"]
    tracking = dict.fromkeys(("", *forms.environment.scheduler.accounts), first.uri)
    return replace(forms, servers=(first,), tracking=tracking)


def one_sagemaker_role(forms: CompiledForms) -> CompiledForms:
    """Restore the former role of all classes: the jobs of each class have the permissions of all."""
    names = [name for name in forms.roles if name.startswith("sagemaker-")]
    permissions = tuple(document for name in names for document in forms.roles[name].permissions)
    altered = {name: replace(forms.roles[name], permissions=permissions) for name in names}
    return replace(forms, roles={**forms.roles, **altered})


def mlflow_open_to_aws(forms: CompiledForms) -> CompiledForms:
    servers = tuple(replace(server, sources=()) for server in forms.servers)
    return replace(forms, servers=servers)


def partner_trusts_nodes(forms: CompiledForms) -> CompiledForms:
    role = forms.roles["job-partner"]
    principal = {"Service": "rolesanywhere.amazonaws.com"}
    seeded = {"Sid": "Seeded", "Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    assert role.trust is not None
    trust = Document(role.trust.name, (*role.trust.statements, seeded))
    return replace(forms, roles={**forms.roles, role.name: replace(role, trust=trust)})


def egress_to_nfs(forms: CompiledForms) -> CompiledForms:
    rule = SecurityGroupRule(
        key="seeded", direction="out", peer="10.20.0.0/16", protocol="tcp", ports=(2049, 2049), why="seeded"
    )
    return replace(forms, egress={"us-east-1": (*forms.egress["us-east-1"], rule)})


def store_admits_internal(forms: CompiledForms) -> CompiledForms:
    stores = tuple(replace(form, admits=form.admits | {"internal"}) for form in forms.stores)
    return replace(forms, stores=stores)


def cache_of_partner(forms: CompiledForms) -> CompiledForms:
    """Cache datasets of partner at the site too, as a plan that forgets the sites of a class would."""
    (cache,) = [form for form in forms.caches if form.data_class == "internal"]
    of_partner = replace(cache, data_class="partner", group="partners", readers=frozenset({"partner"}))
    return replace(forms, caches=(*forms.caches, of_partner))


def copied(copy: DataCopy) -> Alter:
    return lambda forms: replace(forms, copies=(*forms.copies, copy))


def archive_of(data_class: str) -> Alter:
    """Return a change that adds a timer which archives the models of a class."""

    def alter(forms: CompiledForms) -> CompiledForms:
        uri = next(server.uri for server in forms.servers if server.data_class == data_class)
        return replace(forms, archives=(*forms.archives, ArchiveForm(data_class, uri)))

    return alter


def archive_from_restricted(forms: CompiledForms) -> CompiledForms:
    """Give the timer of internal's models the registry of another class."""
    uri = next(server.uri for server in forms.servers if server.data_class == "restricted")
    return replace(forms, archives=(ArchiveForm("internal", uri),))
