/** What the client at the other end can do, read once from `initialize`. */
import type { InitializeParams } from "vscode-languageserver";

/** What our own VS Code client says of itself in `initializationOptions`; every other client leaves it out. */
export interface ClientOptions {
  /** Commands that the client has, such as `vramlint.openRulePage`. */
  readonly commands: readonly string[];
  /** True when it wants `vramlint/status` notifications. */
  readonly status: boolean;
  /** Where a rule's page opens inside the client; `{rule}` stands for its name. */
  readonly rulePage: string | undefined;
  /** Schemes of the documents that count: not the old side of a difference. All when empty. */
  readonly schemes: readonly string[];
  /** Settings for clients that cannot be asked for them. */
  readonly settings: unknown;
}

export interface ClientFeatures {
  readonly locale: string | undefined;
  readonly pullsDiagnostics: boolean;
  readonly refreshesDiagnostics: boolean;
  readonly refreshesInlayHints: boolean;
  readonly refreshesCodeLenses: boolean;
  readonly givesConfiguration: boolean;
  readonly watchesConfiguration: boolean;
  readonly watchesFiles: boolean;
  /** Also those outside of the workspace. */
  readonly watchesOutside: boolean;
  readonly relatedInformation: boolean;
  readonly codeDescription: boolean;
  /** Gives the data of a diagnostic back with the request for its actions. */
  readonly diagnosticData: boolean;
  readonly codeActionLiterals: boolean;
  readonly markdownHover: boolean;
  /** Completions may hold placeholders. */
  readonly snippets: boolean;
  readonly options: ClientOptions;
}

export function readClientFeatures(params: InitializeParams): ClientFeatures {
  const { textDocument, workspace } = params.capabilities;
  const pull = textDocument?.diagnostic;
  const push = textDocument?.publishDiagnostics;
  return {
    locale: params.locale,
    pullsDiagnostics: pull !== undefined,
    refreshesDiagnostics: workspace?.diagnostics?.refreshSupport === true,
    refreshesCodeLenses: workspace?.codeLens?.refreshSupport === true,
    refreshesInlayHints: workspace?.inlayHint?.refreshSupport === true,
    givesConfiguration: workspace?.configuration === true,
    watchesConfiguration: workspace?.didChangeConfiguration?.dynamicRegistration === true,
    watchesFiles: workspace?.didChangeWatchedFiles?.dynamicRegistration === true,
    watchesOutside: workspace?.didChangeWatchedFiles?.relativePatternSupport === true,
    relatedInformation: pull?.relatedInformation === true || push?.relatedInformation === true,
    codeDescription: pull?.codeDescriptionSupport === true || push?.codeDescriptionSupport === true,
    diagnosticData: pull?.dataSupport === true || push?.dataSupport === true,
    codeActionLiterals: textDocument?.codeAction?.codeActionLiteralSupport !== undefined,
    markdownHover: textDocument?.hover?.contentFormat?.includes("markdown") === true,
    snippets: textDocument?.completion?.completionItem?.snippetSupport === true,
    options: readClientOptions(params.initializationOptions),
  };
}

function readClientOptions(given: unknown): ClientOptions {
  const options = isRecord(given) ? given : {};
  const { status, rulePage } = options;
  return {
    commands: strings(options["commands"]),
    schemes: strings(options["schemes"]),
    status: status === true,
    rulePage: typeof rulePage === "string" ? rulePage : undefined,
    settings: options["settings"],
  };
}

function strings(given: unknown): string[] {
  return Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
