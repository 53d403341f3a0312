"""The peer in one process: makes the calls of a file, one after the other, as a script with boto3 would.

    python aws_boto3.py CALLS.json      prints the HTTP status of each

The clients are made when they are first needed and then kept. Only the standard library and boto3: what else this
repository has is not what is measured."""

import base64
import json
import os
import sys

import boto3
from botocore import UNSIGNED, xform_name
from botocore.config import Config
from botocore.exceptions import ClientError


class Clients:
    def __init__(self, key: dict | None):
        self.made: dict = {}
        self.keys = {"admin": {}, "user": key}

    def get(self, service: str, signer: str):
        if (service, signer) not in self.made:
            unsigned = {"config": Config(signature_version=UNSIGNED)} if signer == "none" else {}
            given = self.keys.get(signer) or {}
            # boto3 signs IAM for the client's own region when it is given an endpoint; this account's is IAM's.
            self.made[service, signer] = boto3.client(service, endpoint_url=os.environ["AWS_ENDPOINT_URL"], **unsigned, **given)
        return self.made[service, signer]


def main() -> None:
    told = json.load(open(sys.argv[1], encoding="utf-8"))
    clients, known, statuses = Clients(told["key"]), dict(told["known"]), []
    for call in told["calls"]:
        params = json.dumps(call["params"])
        for placeholder, value in known.items():
            params = params.replace(placeholder, value)
        given = {name: base64.b64decode(value["base64"]) if isinstance(value, dict) and "base64" in value else value
                 for name, value in json.loads(params).items()}
        try:
            answer = getattr(clients.get(call["service"], call["signer"]), xform_name(call["operation"]))(**given)
            if "Body" in answer:
                answer["Body"].read()
        except ClientError as error:
            answer = error.response
        statuses.append(answer["ResponseMetadata"]["HTTPStatusCode"])
        if call["operation"] == "CreateApplication":
            known["@application@"] = answer["applicationId"]
        elif call["operation"] == "CreateAccessKey":
            made = answer["AccessKey"]
            known["@key@"] = made["AccessKeyId"]
            clients.keys["user"] = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
    print(json.dumps(statuses))


main()
