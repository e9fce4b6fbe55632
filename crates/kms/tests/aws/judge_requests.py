"""Judges requests to AWS KMS with botocore: its service model, its serializer and its signature.

Reads JSON from standard input: {"region", "secret", "token", "requests": [{"url", "headers", "body"}]}.
Prints what botocore would have sent for each, and what its model says of errors and answers.
"""
import base64
import json
import sys

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator


def decoded(shape, value):
    """The parameters as botocore takes them: blobs as bytes."""
    if shape.type_name == "blob":
        return base64.b64decode(value, validate=True)
    if shape.type_name == "structure":
        unknown = set(value) - set(shape.members)
        if unknown:
            raise ValueError(f"unknown members: {unknown}")
        return {name: decoded(shape.members[name], member) for name, member in value.items()}
    return value


def signature(request, secret, token, region):
    headers = {name.lower(): value for name, value in request["headers"].items()}
    fields = dict(field.split("=", 1) for field in headers["authorization"].split(" ", 1)[1].split(", "))
    signed = fields["SignedHeaders"].split(";")
    access_key = fields["Credential"].split("/")[0]
    own = {name: headers[name] for name in signed if name not in ("host", "x-amz-date", "x-amz-security-token")}
    again = AWSRequest(method="POST", url=request["url"], data=request["body"], headers=own)
    again.context["timestamp"] = headers["x-amz-date"]
    auth = SigV4Auth(Credentials(access_key, secret, token), "kms", region)
    auth._modify_request_before_signing(again)
    text = auth.string_to_sign(again, auth.canonical_request(again))
    return {"ours": fields["Signature"], "botocore": auth.signature(text, again)}


def judge(model, request, given):
    headers = {name.lower(): value for name, value in request["headers"].items()}
    operation = model.operation_model(headers["x-amz-target"].split(".")[1])
    body = json.loads(request["body"])
    parameters = decoded(operation.input_shape, body)
    report = ParamValidator().validate(parameters, operation.input_shape)
    wanted = create_serializer("json").serialize_to_request(parameters, operation)
    wanted_headers = {name.lower(): value for name, value in wanted["headers"].items()}
    return {
        "problems": report.generate_report(),
        "same_body": json.loads(wanted["body"]) == body,
        "same_headers": all(headers.get(name) == value for name, value in wanted_headers.items()),
        "method": wanted["method"],
        "signature": signature(request, given["secret"], given["token"], given["region"]),
    }


def members(shape):
    return {name: members(of) if of.type_name == "structure" else of.type_name for name, of in shape.members.items()}


given = json.load(sys.stdin)
model = botocore.session.get_session().get_service_model("kms")
operations = [model.operation_model(name) for name in ("DescribeKey", "Encrypt", "Decrypt")]
json.dump(
    {
        "requests": [judge(model, request, given) for request in given["requests"]],
        "errors": sorted({shape.name for operation in operations for shape in operation.error_shapes}),
        "states": model.shape_for("KeyState").enum,
        "answers": {operation.name: members(operation.output_shape) for operation in operations},
    },
    sys.stdout,
)
