/**
 * Whether a report is SARIF 2.1.0. The schema is the copy that @microsoft/jest-sarif (MIT) ships, whose patterns ask for
 * nothing but the older regular expressions that it was written for.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import Ajv from "ajv-draft-04";
import addFormats from "ajv-formats";
import type { Log } from "sarif";

const file = path.join(__dirname, "data/sarif-2.1.0-rtm.5.json");
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats(ajv);
const validate = ajv.compile<Log>(JSON.parse(readFileSync(file, "utf8")) as object);

/** The report; throws with what the schema has against it. */
export function asSarif(report: string): Log {
  const log: unknown = JSON.parse(report);
  if (validate(log)) return log;
  throw new Error(JSON.stringify(validate.errors, undefined, 2));
}
