"""The Iceberg connector as it meets a real catalog and AWS: what Validate asks, in its order and in its words."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = Any


@dataclass
class Destination:
    """One validation. aws_url: where AWS is played; ca_file: trusted besides the system's authorities."""

    config: Json
    ca_file: str
    aws_url: str = ""
    timeout: int = 5

    def faults(self, catalog: bool) -> list[str]:
        """What is wrong, as one text each; the first part that fails ends it, as in the connector."""
        wrong = self._catalog() if catalog else ""
        if wrong:
            return [f"creating catalog: {wrong}"]
        if not self.aws_url:
            return []
        wrong = self._region()
        if wrong:
            return [wrong]
        found = [*self._emr(), *self._parameters(), *self._bucket()]
        if not found:
            return []
        return ["the connector cannot run due to the following error(s):\n - " + "\n - ".join(found)]

    # The catalog.

    def _open(self, request: urllib.request.Request) -> tuple[int, Any, bytes]:
        context = ssl.create_default_context(cafile=self.ca_file or None)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=context))
        try:
            with opener.open(request, timeout=self.timeout) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()

    def _catalog(self) -> str:
        credentials, url = self.config["credentials"], self.config["url"]
        if not credentials["auth_type"].startswith("OAuth"):
            return ""
        about = f'failed to get /config: Get "{url}/v1/config"'
        client, colon, secret = credentials["credential"].partition(":")
        token = client
        try:
            if colon:
                status, token = self._token(client, secret)
                if status != 200:
                    return f"{about}: {token}"
            query = urllib.parse.urlencode({"warehouse": self.config["warehouse"]})
            status, _, body = self._open(urllib.request.Request(
                f"{url.rstrip('/')}/v1/config?{query}", headers={"Authorization": f"Bearer {token}"}))
        except (OSError, ValueError) as wrong:
            return f"{about}: {wrong}"
        return "" if status == 200 else f"{about}: {status} {body.decode(errors='replace')[:300]}"

    def _token(self, client: str, secret: str) -> tuple[int, str]:
        credentials = self.config["credentials"]
        uri = urllib.parse.urljoin(self.config["url"].rstrip("/") + "/", credentials["oauth2_server_uri"])
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
        if credentials.get("scope"):
            form["scope"] = credentials["scope"]
        status, _, body = self._open(urllib.request.Request(uri, urllib.parse.urlencode(form).encode()))
        try:
            said = json.loads(body)
        except ValueError:
            said = {}
        if status == 200 and "access_token" in said:
            return 200, str(said["access_token"])
        if "error" in said:
            return 401, f'oauth2: "{said["error"]}" "{said.get("error_description", "")}"'
        return status if status != 200 else 502, f"oauth2: cannot fetch token: {status}\nResponse: {body[:200]!r}"

    # AWS.

    def _client(self, service: str) -> Any:
        import boto3
        from botocore.config import Config

        compute = self.config["compute"]
        keys = compute["credentials"]
        config = Config(retries={"total_max_attempts": 1}, connect_timeout=self.timeout, read_timeout=self.timeout,
                        s3={"addressing_style": "path"})
        return boto3.client(service, region_name=compute["region"], endpoint_url=self.aws_url, config=config,
                            verify=self.ca_file or True, aws_access_key_id=keys.get("aws_access_key_id"),
                            aws_secret_access_key=keys.get("aws_secret_access_key"))

    def _region(self) -> str:
        bucket = self.config["compute"]["bucket"]
        about = "creating bucket: could not determine bucket region"
        try:
            request = urllib.request.Request(f"{self.aws_url}/{urllib.parse.quote(bucket)}", method="HEAD")
            status, headers, _ = self._open(request)
        except OSError as wrong:
            return f"{about}: {wrong}"
        if headers.get("x-amz-bucket-region"):
            return ""
        return f'{about}: could not find region for bucket "{bucket}": {status}'

    def _emr(self) -> list[str]:
        from botocore.exceptions import BotoCoreError, ClientError

        application = self.config["compute"]["application_id"]
        try:
            self._client("emr-serverless").list_job_runs(applicationId=application, maxResults=1)
        except (ClientError, BotoCoreError) as wrong:
            return [f'failed to list job runs for application "{application}": {wrong}']
        return []

    def _parameters(self) -> list[str]:
        from botocore.exceptions import BotoCoreError, ClientError

        if not self.config["credentials"]["auth_type"].startswith("OAuth"):
            return []
        name, client = self.config["compute"]["systems_manager_prefix"] + "test", self._client("ssm")
        try:
            client.put_parameter(Name=name, Value="test", Type="SecureString", Overwrite=True)
        except (ClientError, BotoCoreError) as wrong:
            return [f"failed to put secure string parameter to {name}: {wrong}"]
        try:
            client.get_parameter(Name=name, WithDecryption=True)
        except (ClientError, BotoCoreError) as wrong:
            return [f"failed to get secure string parameter from {name}: {wrong}"]
        return []

    def _bucket(self) -> list[str]:
        from botocore.exceptions import BotoCoreError, ClientError

        bucket, path = self.config["compute"]["bucket"], self.config["compute"].get("bucket_path", "")
        client, key = self._client("s3"), "/".join(part for part in (path.strip("/"), str(uuid.uuid4())) if part)
        where = f"s3://{bucket}/{path}".rstrip("/")
        found = []
        calls: tuple[tuple[str, Callable[[], Any]], ...] = (
            ("list", lambda: client.list_objects_v2(Bucket=bucket, Prefix=path)),
            ("write to", lambda: client.put_object(Bucket=bucket, Key=key, Body=b"test")),
            ("read from", lambda: client.get_object(Bucket=bucket, Key=key)),
            ("delete from", lambda: client.delete_object(Bucket=bucket, Key=key)))
        for verb, call in calls:
            try:
                call()
            except ClientError as wrong:
                status = wrong.response["ResponseMetadata"]["HTTPStatusCode"]
                said = {403: "unauthorized", 404: "no such bucket"}.get(status, str(wrong))
                found.append(f'unable to {verb} "{where}": {said}')
                if status == 404 or verb == "write to":
                    break
            except BotoCoreError as wrong:
                return [f'unable to {verb} "{where}": {wrong}']
        return found
