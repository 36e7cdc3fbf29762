/** The forms a report can have. */
import { githubReport } from "./github";
import { gitlabReport } from "./gitlab";
import { jsonReport } from "./json";
import { junitReport } from "./junit";
import type { ReportMaker } from "./report";
import { sarifReport } from "./sarif";
import { textReport } from "./text";

export const formats = ["text", "json", "sarif", "github", "gitlab", "junit"] as const;

export type Format = (typeof formats)[number];

export const reportMakers: Readonly<Record<Format, ReportMaker>> = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
  github: githubReport,
  gitlab: gitlabReport,
  junit: junitReport,
};
