"""S3: moto keeps buckets and objects; regions, owners, names, defaults and checksums are the front's.

Imitation: what new buckets have by default (SSE-S3, public access block) is set right after their creation;
object ACLs, KMS and public access are not judged; anonymous calls get nothing but a bucket's region.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from . import iam_documents as documents
from .chunks import check_checksums
from .errors import AwsError, failure
from .judgement import judged, refusal
from .messages import Answer, Call
from .paging import window
from .policies import Document, Need
from .s3_operations import CHECKSUM_REQUIRED, PERMISSIONS, READING
from .service import Caller, Service, World, element
from .settings import REGIONS, SUFFIX, partition_of

SPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
_ENCRYPTION = (
    f'<ServerSideEncryptionConfiguration xmlns="{SPACE}"><Rule><ApplyServerSideEncryptionByDefault>'
    "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false"
    "</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>"
).encode()
_BLOCK = (
    f'<PublicAccessBlockConfiguration xmlns="{SPACE}"><BlockPublicAcls>true</BlockPublicAcls>'
    "<IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>"
    "<RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>"
).encode()
_NAME = re.compile(r"(?!xn--|sthree-|amzn-s3-demo-)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")
_SUFFIXES = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")
_EMPTY_PAGE = "an-empty-page-comes-first"


def name_allowed(name: str) -> bool:
    """Whether S3 would take this name for a bucket."""
    if not _NAME.match(name) or name.endswith(_SUFFIXES):
        return False
    return re.fullmatch(r"\d+\.\d+\.\d+\.\d+", name) is None and ".-" not in name and "-." not in name


class S3(Service):
    """Simple Storage Service."""

    name = "s3"
    reading = READING

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._deleted: dict[str, float] = {}

    # Buckets, of this account and of the other one.

    def owner(self, bucket: str) -> str:
        """The account that owns a bucket; empty when nobody does."""
        for account in (self.world.account, self.world.settings.foreign_account):
            if bucket in self.world.backend.model("s3", account=account).buckets:
                return account
        return ""

    def region(self, bucket: str) -> str:
        """The region of an existing bucket."""
        model = self.world.backend.model("s3", account=self.owner(bucket))
        return str(model.buckets[bucket].region_name)

    def make(self, bucket: str, region: str | None = None, foreign: bool = False) -> None:
        """Make a bucket, for a test: in this account or in the other one."""
        settings = self.world.settings
        account = settings.foreign_account if foreign else settings.account
        self.world.backend.model("s3", account=account).create_bucket(bucket, region or settings.region)
        self._defaults(bucket, region or settings.region)

    def _defaults(self, bucket: str, region: str) -> None:
        if self.world.settings.bucket_defaults:
            self.world.backend.bucket(region, "PUT", bucket, "encryption", _ENCRYPTION)
            self.world.backend.bucket(region, "PUT", bucket, "publicAccessBlock", _BLOCK)

    # Before anyone is judged: is the bucket here?

    def before(self, call: Call) -> None:
        """Answer for a bucket that does not exist or lies in another region."""
        if not call.bucket or call.operation == "CreateBucket":
            return
        if not self.owner(call.bucket):
            if call.request.method == "HEAD":
                raise AwsError("NotFound", "Not Found", 404)
            raise AwsError("NoSuchBucket", "The specified bucket does not exist", 404, {"BucketName": call.bucket})
        region = self.region(call.bucket)
        asked = call.pinned_region or call.region
        if asked != region and self._region_matters(call):
            raise self._elsewhere(call, region)

    @staticmethod
    def _region_matters(call: Call) -> bool:
        signed = call.request.header("authorization") or call.asked("X-Amz-Signature")
        return bool(signed or call.pinned_region)

    def _elsewhere(self, call: Call, region: str) -> AwsError:
        endpoint = f"{call.bucket}.s3.{region}.{SUFFIX[partition_of(region)]}"
        headers = {"x-amz-bucket-region": region}
        status = self.world.settings.redirect_status
        if status == 400:
            text = f"The authorization header is malformed; the region '{call.region}' is wrong; expecting '{region}'"
            return AwsError("AuthorizationHeaderMalformed", text, 400, {"Region": region}, headers)
        extra = {"Endpoint": endpoint, "Bucket": call.bucket}
        if status == 307:
            headers["Location"] = f"https://{endpoint}{call.request.target}"
            text = (
                "Please re-send this request to the specified temporary endpoint. Continue to use the original "
                "request endpoint for future requests."
            )
            return AwsError("TemporaryRedirect", text, 307, extra, headers)
        text = (
            "The bucket you are attempting to access must be addressed using the specified endpoint. Please send "
            "all future requests to this endpoint."
        )
        return AwsError("PermanentRedirect", text, 301, extra, headers)

    def anonymous(self, call: Call) -> Answer:
        """An unsigned call: the region of a bucket, and a refusal."""
        self.before(call)
        error = failure("unsigned", "s3")
        if call.bucket and self.owner(call.bucket):
            error.headers["x-amz-bucket-region"] = self.region(call.bucket)
        raise error

    # The permissions.

    def _bucket_need(self, call: Call, action: str, key: str | None, bucket: str = "") -> Need:
        name = bucket or call.bucket
        owner = "" if call.operation == "CreateBucket" else self.owner(name)
        partition = self.world.settings.partition
        arn = f"arn:{partition}:s3:::{name}" + ("" if key is None else f"/{key}")
        context: dict[str, list[str]] = {"s3:signatureversion": ["AWS4-HMAC-SHA256"]}
        for header in ("x-amz-acl", "x-amz-server-side-encryption", "x-amz-object-ownership"):
            value = call.request.header(header)
            if value:
                context[f"s3:{header}"] = [value]
        policy = None
        if owner:
            text = self.world.backend.model("s3", account=owner).buckets[name].policy
            if text:
                policy = Document("bucket", text.decode() if isinstance(text, bytes) else text)
        if call.operation in ("ListObjectsV2", "ListObjects", "ListObjectVersions"):
            for query_name in ("prefix", "delimiter", "max-keys"):
                asked = call.asked(query_name)
                if asked is not None:
                    context[f"s3:{query_name}"] = [asked]
        return Need(action, arn, context, resource_policy=policy, owner=owner)

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        if call.operation not in PERMISSIONS:
            raise self.unknown(call)
        action, on = PERMISSIONS[call.operation]
        if on == "all":
            return [Need(action, f"arn:{self.world.settings.partition}:s3:::*", shown=None)]
        if on == "each":
            return []
        if on == "bucket":
            need = self._bucket_need(call, action, None)
            if call.operation == "CreateBucket" and self._constraint(call):
                need.context["s3:LocationConstraint"] = [self._constraint(call)]
            return [need]
        needs = [self._bucket_need(call, action, call.key)]
        if call.operation == "CopyObject":
            source = unquote(call.request.header("x-amz-copy-source") or "").lstrip("/")
            bucket, _, key = source.partition("/")
            needs.insert(0, self._bucket_need(call, "s3:GetObject", key.split("?versionId=")[0], bucket))
        return needs

    # The calls.

    def perform(self, call: Call, caller: Caller) -> Answer:
        if call.request.method in ("PUT", "POST"):
            check_checksums(call, call.operation in CHECKSUM_REQUIRED)
        if call.operation == "ListBuckets":
            return self._list_buckets(call)
        if call.operation == "CreateBucket":
            return self._create(call, caller)
        if call.operation == "DeleteObjects":
            return self._delete_each(call, caller)
        if call.operation == "PutBucketPolicy":
            self._check_policy(call)
        if call.operation == "ListObjectsV2":
            return self._list_objects(call, caller)
        answer = self.forward(call, caller)
        if call.operation == "DeleteBucket" and answer.status < 300:
            self._deleted[call.bucket] = self.world.clock.now()
        if call.operation == "HeadBucket":
            answer.put("x-amz-bucket-region", self.region(call.bucket))
            answer.put("x-amz-access-point-alias", "false")
        if call.operation in ("GetObject", "HeadObject") and answer.status == 404:
            self._hide_absence(call, caller)
        return answer

    def forward(self, call: Call, caller: Caller | None, target: str | None = None) -> Answer:
        given = target or call.request.target
        first = unquote(call.request.path[1:].partition("/")[0])
        if call.bucket and first != call.bucket:
            given = "/" + quote(call.bucket) + (given if given != "/" else "")
        return super().forward(call, caller, given)

    def _hide_absence(self, call: Call, caller: Caller) -> None:
        need = self._bucket_need(call, "s3:ListBucket", None)
        verdict = judged(self.world, call, caller, need)
        if not verdict.allowed:
            raise refusal(self.world, call, caller, need, verdict)

    @staticmethod
    def _constraint(call: Call) -> str:
        found = re.search(rb"<LocationConstraint[^>]*>([^<]*)</LocationConstraint>", call.payload)
        return found[1].decode().strip() if found else ""

    def _create(self, call: Call, caller: Caller) -> Answer:
        name, endpoint = call.bucket, call.pinned_region or call.region
        settings = self.world.settings
        if not name_allowed(name):
            raise AwsError("InvalidBucketName", "The specified bucket is not valid.", 400, {"BucketName": name})
        asked = self._constraint(call)
        region = "eu-west-1" if asked == "EU" else asked
        if region and (region not in REGIONS[settings.partition] or region == "us-east-1"):
            text = "The specified location-constraint is not valid"
            raise AwsError("InvalidLocationConstraint", text, 400, {"LocationConstraint": asked})
        if endpoint != "us-east-1" and region != endpoint:
            shown = asked or "unspecified"
            text = (
                f"The {shown} location constraint is incompatible for the region specific endpoint this request "
                "was sent to."
            )
            raise AwsError("IllegalLocationConstraintException", text, 400)
        owner = self.owner(name)
        if owner and owner != settings.account:
            text = (
                "The requested bucket name is not available. The bucket namespace is shared by all users of the "
                "system. Please select a different name and try again."
            )
            raise AwsError("BucketAlreadyExists", text, 409, {"BucketName": name})
        if owner:
            if self.region(name) == "us-east-1" == endpoint:
                return Answer(200, [("Location", f"/{name}")])
            text = "Your previous request to create the named bucket succeeded and you already own it."
            raise AwsError("BucketAlreadyOwnedByYou", text, 409, {"BucketName": name})
        rested = self.world.clock.now() - self._deleted.get(name, float("-inf"))
        if rested < settings.bucket_name_rest:
            text = (
                "A conflicting conditional operation is currently in progress against this resource. Please try again."
            )
            raise AwsError("OperationAborted", text, 409)
        answer = self.forward(call, caller)
        if answer.status == 200:
            self._defaults(name, region or endpoint)
            answer.headers = [("Location", f"/{name}")]
        return answer

    def _check_policy(self, call: Call) -> None:
        try:
            statements = documents.parse(call.payload.decode())
            for statement in statements:
                documents.check_principals(statement, self.world.directory.seen_by("s3"), self.world.account)
        except AwsError as wrong:
            text = "Invalid principal in policy" if "principal" in wrong.message else wrong.message
            raise AwsError("MalformedPolicy", text, 400) from None

    def _list_buckets(self, call: Call) -> Answer:
        buckets = sorted(self.world.backend.model("s3").buckets.values(), key=lambda b: b.name)
        prefix, region = call.asked("prefix") or "", call.asked("bucket-region")
        chosen = [b for b in buckets if b.name.startswith(prefix) and region in (None, "", b.region_name)]
        size = call.asked("max-buckets")
        error = AwsError("InvalidArgument", "The continuation token provided is incorrect", 400)
        settings = self.world.settings
        start, end, token = window(
            len(chosen), int(size) if size else 10000, call.asked("continuation-token"), settings, error
        )
        rows = "".join(
            f"<Bucket>{element('Name', b.name)}"
            f"{element('CreationDate', b.creation_date.strftime('%Y-%m-%dT%H:%M:%S.000Z'))}"
            f"{element('BucketRegion', b.region_name)}</Bucket>"
            for b in chosen[start:end]
        )
        owner = f"<Owner>{element('ID', '75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a')}</Owner>"
        more = element("ContinuationToken", token) if token else ""
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<ListAllMyBucketsResult xmlns="{SPACE}">{owner}'
            f"<Buckets>{rows}</Buckets>{more}</ListAllMyBucketsResult>"
        )
        return Answer(200, [("Content-Type", "application/xml")], body.encode())

    def _list_objects(self, call: Call, caller: Caller) -> Answer:
        settings = self.world.settings
        pairs, token = list(call.query), call.asked("continuation-token")
        if settings.empty_pages and token is None:
            return self._empty_page(call)
        if token == _EMPTY_PAGE:
            pairs = [(n, v) for n, v in pairs if n != "continuation-token"]
        if settings.page_size:
            asked = int(call.asked("max-keys") or 1000)
            pairs = [(n, v) for n, v in pairs if n != "max-keys"]
            pairs.append(("max-keys", str(min(asked, settings.page_size))))
        query = "&".join(f"{quote(n, safe='')}={quote(v, safe='')}" for n, v in pairs)
        answer = self.forward(call, caller, f"{call.request.path}?{query}")
        answer.put("x-amz-bucket-region", self.region(call.bucket))
        if settings.repeat_tokens and token and token != _EMPTY_PAGE:
            repeated = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>"
            answer.body = re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", repeated.encode(), answer.body)
            answer.put("Content-Length", str(len(answer.body)))
        return answer

    def _empty_page(self, call: Call) -> Answer:
        inner = (
            element("Name", call.bucket)
            + element("Prefix", call.asked("prefix") or "")
            + "<KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated>"
            + element("NextContinuationToken", _EMPTY_PAGE)
        )
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="{SPACE}">{inner}</ListBucketResult>'
        return Answer(200, [("Content-Type", "application/xml")], body.encode())

    def _delete_each(self, call: Call, caller: Caller) -> Answer:
        try:
            root = ET.fromstring(call.payload)
        except ET.ParseError:
            raise AwsError("MalformedXML", "The XML you provided was not well-formed.", 400) from None
        strip = re.compile(r"^\{[^}]*\}")
        refused = ""
        for node in list(root):
            key = next((c.text or "" for c in node if strip.sub("", c.tag) == "Key"), None)
            if key is None:
                continue
            need = self._bucket_need(call, "s3:DeleteObject", key)
            verdict = judged(self.world, call, caller, need)
            if not verdict.allowed:
                error = refusal(self.world, call, caller, need, verdict)
                root.remove(node)
                told = element("Key", key) + element("Code", error.code) + element("Message", error.message)
                refused += f"<Error>{told}</Error>"
        if not any(strip.sub("", node.tag) == "Object" for node in root):
            body = f'<DeleteResult xmlns="{SPACE}">{refused}</DeleteResult>'.encode()
            return Answer(200, [("Content-Type", "application/xml")], body)
        ET.register_namespace("", SPACE)
        call.payload = ET.tostring(root)
        answer = self.forward(call, caller)
        answer.body = answer.body.replace(b"</DeleteResult>", refused.encode() + b"</DeleteResult>")
        answer.put("Content-Length", str(len(answer.body)))
        return answer
