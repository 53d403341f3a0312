"""The part of the control plane's GraphQL schema that a client of the documented queries meets.

Names of types, fields and arguments are the service's; anything else is a validation error, as GraphQL gives it."""

SDL = """
scalar Collection
scalar DateTime
scalar Id
scalar JSON
scalar Name
scalar Prefix
scalar Sensitive

enum Capability { admin none read write }
enum CatalogType { capture collection materialization test }
enum ConnectorProto { capture materialization }
enum DataPlaneCloudProvider { AWS AZURE GCP LOCAL }
enum StatusSummaryType { ERROR OK TASK_DISABLED WARNING }

type PageInfo { endCursor: String  hasNextPage: Boolean!  hasPreviousPage: Boolean!  startCursor: String }

type PrefixRef { prefix: Prefix!  userCapability: Capability! }
type PrefixRefEdge { cursor: String!  node: PrefixRef! }
type PrefixRefConnection { edges: [PrefixRefEdge!]!  pageInfo: PageInfo! }
input PrefixesBy { minCapability: Capability! }

type ConnectorSpec {
  defaultCaptureInterval: String
  disableBackfill: Boolean!
  documentationUrl: String
  endpointSpecSchema: JSON
  id: Id! @deprecated(reason: "to be removed")
  imageTag: String!
  protocol: ConnectorProto
  resourceSpecSchema: JSON
}
type Connector {
  createdAt: DateTime!
  defaultImageTag: String
  defaultSpec: ConnectorSpec
  detail: String
  externalUrl: String!
  id: Id!
  imageName: String!
  logoUrl: String
  protocol: ConnectorProto
  recommended: Boolean!
  spec(imageTag: String!): ConnectorSpec
  title: String
}
type ConnectorEdge { cursor: String!  node: Connector! }
type ConnectorConnection { edges: [ConnectorEdge!]!  pageInfo: PageInfo! }
input ProtocolFilter { eq: ConnectorProto! }
input ConnectorsFilter { protocol: ProtocolFilter  recommended: Boolean }

type DataPlane {
  awsIamUserArn: String
  azureApplicationClientId: String
  azureApplicationName: String
  cidrBlocks: [String!]!
  closed: Boolean!
  cloudProvider: DataPlaneCloudProvider!
  fqdn: String!
  gcpServiceAccountEmail: String
  id: Id!
  isPublic: Boolean!
  name: String!
  reactorAddress: String!
  region: String!
  tag: String!
  userCapability: Capability!
}
type DataPlaneEdge { cursor: String!  node: DataPlane! }
type DataPlaneConnection { edges: [DataPlaneEdge!]!  pageInfo: PageInfo! }
input BoolFilter { eq: Boolean }
input IdFilter { in: [Id!] }
input StringFilter { eq: String }
input DataPlanesFilter { closed: BoolFilter  id: IdFilter  public: BoolFilter  tenant: StringFilter }
type PublicDataPlane { cloudProvider: DataPlaneCloudProvider!  name: String!  region: String! }
type PublicDataPlaneEdge { cursor: String!  node: PublicDataPlane! }
type PublicDataPlaneConnection { edges: [PublicDataPlaneEdge!]!  pageInfo: PageInfo! }

type StorageMapping { catalogPrefix: Prefix!  detail: String  spec: JSON!  userCapability: Capability! }
type StorageMappingEdge { cursor: String!  node: StorageMapping! }
type StorageMappingConnection { edges: [StorageMappingEdge!]!  pageInfo: PageInfo! }
input PrefixFilter { in: [String!]  startsWith: String }
input StorageMappingsFilter { catalogPrefix: PrefixFilter }

type LiveSpec {
  builtSpec: JSON
  catalogName: String!
  catalogType: CatalogType!
  createdAt: DateTime!
  dataPlaneId: Id!
  isDisabled: Boolean!
  lastBuildId: Id!
  lastPubId: Id!
  liveSpecId: Id!
  model: JSON
  updatedAt: DateTime!
}
type LiveSpecStatus { summary: String!  type: StatusSummaryType! }
type LiveSpecRef { catalogName: Name!  liveSpec: LiveSpec  status: LiveSpecStatus  userCapability: Capability }
type LiveSpecRefEdge { cursor: String!  node: LiveSpecRef! }
type LiveSpecRefConnection { edges: [LiveSpecRefEdge!]!  pageInfo: PageInfo! }
input LiveSpecsBy { catalogType: CatalogType  dataPlaneName: Name  names: [Name!]  prefix: Prefix }

type RefreshTokenResult { id: Id!  secret: Sensitive! }

type QueryRoot {
  connector(id: Id, imageName: String): Connector
  connectorSpec(fullImageName: String!): ConnectorSpec
  connectors(after: String, before: String, filter: ConnectorsFilter, first: Int, last: Int): ConnectorConnection!
  dataPlanes(after: String, before: String, filter: DataPlanesFilter, first: Int, last: Int): DataPlaneConnection!
  liveSpecs(after: String, before: String, by: LiveSpecsBy!, first: Int, last: Int): LiveSpecRefConnection!
  prefixes(after: String, by: PrefixesBy!, first: Int): PrefixRefConnection!
  publicDataPlanes(after: String, before: String, first: Int, last: Int): PublicDataPlaneConnection!
  storageMappings(after: String, before: String, filter: StorageMappingsFilter, first: Int, last: Int): StorageMappingConnection!
}
type MutationRoot {
  createRefreshToken(detail: String = null, multiUse: Boolean! = true, validFor: String! = "P90D"): RefreshTokenResult!
}
schema { query: QueryRoot  mutation: MutationRoot }
"""
