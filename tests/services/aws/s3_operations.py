"""S3's operations: how a request names one, and which permission on which resource each needs."""

from __future__ import annotations

from .messages import Call

#: query name -> what stands behind Get/Put/Delete in the operation's name
_BUCKET_PARTS = {
    "accelerate": "BucketAccelerateConfiguration",
    "acl": "BucketAcl",
    "cors": "BucketCors",
    "encryption": "BucketEncryption",
    "lifecycle": "BucketLifecycleConfiguration",
    "location": "BucketLocation",
    "logging": "BucketLogging",
    "notification": "BucketNotificationConfiguration",
    "object-lock": "ObjectLockConfiguration",
    "ownershipControls": "BucketOwnershipControls",
    "policy": "BucketPolicy",
    "policyStatus": "BucketPolicyStatus",
    "publicAccessBlock": "PublicAccessBlock",
    "replication": "BucketReplication",
    "requestPayment": "BucketRequestPayment",
    "tagging": "BucketTagging",
    "versioning": "BucketVersioning",
    "website": "BucketWebsite",
}
_OBJECT_PARTS = {"acl": "ObjectAcl", "tagging": "ObjectTagging", "attributes": "ObjectAttributes"}
_VERBS = {"GET": "Get", "PUT": "Put", "DELETE": "Delete"}

#: operation -> (permission, what it is asked on). Operations that are not here are not part of the stand-in.
PERMISSIONS: dict[str, tuple[str, str]] = {
    "ListBuckets": ("s3:ListAllMyBuckets", "all"),
    "HeadBucket": ("s3:ListBucket", "bucket"),
    "ListObjects": ("s3:ListBucket", "bucket"),
    "ListObjectsV2": ("s3:ListBucket", "bucket"),
    "ListObjectVersions": ("s3:ListBucketVersions", "bucket"),
    "ListMultipartUploads": ("s3:ListBucketMultipartUploads", "bucket"),
    "CreateBucket": ("s3:CreateBucket", "bucket"),
    "DeleteBucket": ("s3:DeleteBucket", "bucket"),
    "GetBucketLocation": ("s3:GetBucketLocation", "bucket"),
    "GetBucketAcl": ("s3:GetBucketAcl", "bucket"),
    "GetPublicAccessBlock": ("s3:GetBucketPublicAccessBlock", "bucket"),
    "PutPublicAccessBlock": ("s3:PutBucketPublicAccessBlock", "bucket"),
    "DeletePublicAccessBlock": ("s3:PutBucketPublicAccessBlock", "bucket"),
    "GetBucketEncryption": ("s3:GetEncryptionConfiguration", "bucket"),
    "PutBucketEncryption": ("s3:PutEncryptionConfiguration", "bucket"),
    "DeleteBucketEncryption": ("s3:PutEncryptionConfiguration", "bucket"),
    "GetBucketPolicy": ("s3:GetBucketPolicy", "bucket"),
    "PutBucketPolicy": ("s3:PutBucketPolicy", "bucket"),
    "DeleteBucketPolicy": ("s3:DeleteBucketPolicy", "bucket"),
    "GetBucketPolicyStatus": ("s3:GetBucketPolicyStatus", "bucket"),
    "GetBucketVersioning": ("s3:GetBucketVersioning", "bucket"),
    "PutBucketVersioning": ("s3:PutBucketVersioning", "bucket"),
    "GetBucketTagging": ("s3:GetBucketTagging", "bucket"),
    "PutBucketTagging": ("s3:PutBucketTagging", "bucket"),
    "DeleteBucketTagging": ("s3:PutBucketTagging", "bucket"),
    "GetBucketLifecycleConfiguration": ("s3:GetLifecycleConfiguration", "bucket"),
    "PutBucketLifecycleConfiguration": ("s3:PutLifecycleConfiguration", "bucket"),
    "DeleteBucketLifecycle": ("s3:PutLifecycleConfiguration", "bucket"),
    "GetBucketOwnershipControls": ("s3:GetBucketOwnershipControls", "bucket"),
    "PutBucketOwnershipControls": ("s3:PutBucketOwnershipControls", "bucket"),
    "DeleteBucketOwnershipControls": ("s3:PutBucketOwnershipControls", "bucket"),
    "GetBucketLogging": ("s3:GetBucketLogging", "bucket"),
    "GetObject": ("s3:GetObject", "object"),
    "HeadObject": ("s3:GetObject", "object"),
    "PutObject": ("s3:PutObject", "object"),
    "CopyObject": ("s3:PutObject", "object"),
    "DeleteObject": ("s3:DeleteObject", "object"),
    "DeleteObjects": ("s3:DeleteObject", "each"),
    "CreateMultipartUpload": ("s3:PutObject", "object"),
    "UploadPart": ("s3:PutObject", "object"),
    "CompleteMultipartUpload": ("s3:PutObject", "object"),
    "AbortMultipartUpload": ("s3:AbortMultipartUpload", "object"),
    "ListParts": ("s3:ListMultipartUploadParts", "object"),
    "GetObjectTagging": ("s3:GetObjectTagging", "object"),
    "PutObjectTagging": ("s3:PutObjectTagging", "object"),
    "DeleteObjectTagging": ("s3:DeleteObjectTagging", "object"),
}

#: Operations that AWS refuses without a checksum of the body.
CHECKSUM_REQUIRED = frozenset(
    "PutPublicAccessBlock PutBucketEncryption PutBucketPolicy PutBucketTagging PutBucketVersioning "
    "PutBucketLifecycleConfiguration PutBucketOwnershipControls DeleteObjects PutObjectTagging".split()
)

READING = ("Get", "Head", "List")


def s3_operation(call: Call) -> str:
    """The operation's name, by method, path and query."""
    method = call.request.method
    names = {name for name, _ in call.query}
    if not call.bucket:
        return "ListBuckets" if method == "GET" else f"Unknown{method}"
    if call.key:
        return _object_operation(call, method, names)
    if method == "HEAD":
        return "HeadBucket"
    if method == "POST":
        return "DeleteObjects" if "delete" in names else "UnknownPOST"
    for part, name in _BUCKET_PARTS.items():
        if part in names and method in _VERBS:
            if method == "DELETE" and part == "lifecycle":
                return "DeleteBucketLifecycle"
            return _VERBS[method] + name
    if method == "GET":
        if "uploads" in names:
            return "ListMultipartUploads"
        if "versions" in names:
            return "ListObjectVersions"
        return "ListObjectsV2" if call.asked("list-type") == "2" else "ListObjects"
    return {"PUT": "CreateBucket", "DELETE": "DeleteBucket"}.get(method, f"Unknown{method}")


def _object_operation(call: Call, method: str, names: set[str]) -> str:
    if "uploadId" in names:
        wanted = {"PUT": "UploadPart", "POST": "CompleteMultipartUpload", "DELETE": "AbortMultipartUpload"}
        return wanted.get(method, "ListParts")
    if method == "POST":
        return "CreateMultipartUpload" if "uploads" in names else "UnknownPOST"
    for part, name in _OBJECT_PARTS.items():
        if part in names and method in _VERBS:
            return _VERBS[method] + name
    if method == "PUT" and call.request.header("x-amz-copy-source"):
        return "CopyObject"
    plain = {"GET": "GetObject", "HEAD": "HeadObject", "PUT": "PutObject", "DELETE": "DeleteObject"}
    return plain.get(method, f"Unknown{method}")
