// Judges documents by JSON Schemas (draft 2020-12), for tests/e2e/schemas.py.
//
//   node judge.mjs FOLDER < {"schemas": {NAME: schema}, "documents": [[NAME, document], ...]}
//
// FOLDER is where ajv is installed. Prints one list for each document: what is wrong with it, by place.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { Ajv2020 } = createRequire(`${process.argv[2]}/`)('ajv/dist/2020');
const asked = JSON.parse(readFileSync(0, 'utf8'));

// Published schemas have words of their own (secret, order, x-…) and formats of Estuary's.
function compile(schema) {
  return new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
}

const judges = Object.fromEntries(Object.entries(asked.schemas).map(([name, schema]) => [name, compile(schema)]));

function say({ instancePath, message, params }) {
  return `${instancePath || '/'} ${message} ${JSON.stringify(params)}`;
}

console.log(JSON.stringify(asked.documents.map(([name, document]) => {
  const judge = judges[name];
  return judge(document) ? [] : judge.errors.map(say);
})));
