/** A language client for the tests: drives the built server over stdio as an editor does. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import path from "node:path";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import type {
  ClientCapabilities,
  CodeAction,
  CodeActionContext,
  Diagnostic,
  DocumentDiagnosticReport,
  Hover,
  InitializeResult,
  InlayHint,
  InlayHintLabelPart,
  MarkupContent,
  Position,
  ProtocolConnection,
  PublishDiagnosticsParams,
  Range,
  Registration,
  RegistrationParams,
  TextDocumentContentChangeEvent,
  UnregistrationParams,
  WorkspaceEdit,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";

const server = path.join(process.env["VRAMLINT_DIST"] ?? path.join(__dirname, "../../../dist"), "launch.js");

/** What VS Code can do, as far as it matters here. */
export const pullCapabilities: ClientCapabilities = {
  workspace: {
    configuration: true,
    didChangeConfiguration: { dynamicRegistration: true },
    diagnostics: { refreshSupport: true },
    inlayHint: { refreshSupport: true },
  },
  textDocument: {
    diagnostic: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source.fixAll"] } } },
    hover: { contentFormat: ["markdown"] },
    inlayHint: {},
  },
};

/** A client that is not told later what it was not told at once: it hears everything at once, on the line that is typed too. */
export const atOnceCapabilities: ClientCapabilities = {
  ...pullCapabilities,
  workspace: { ...pullCapabilities.workspace, diagnostics: {} },
};

/** A client from before pull diagnostics. */
export const pushCapabilities: ClientCapabilities = {
  textDocument: {
    publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true, dataSupport: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
  },
};

export interface ClientSetup {
  readonly capabilities?: ClientCapabilities;
  readonly initializationOptions?: unknown;
  readonly locale?: string;
  /** What `workspace/configuration` gives for the section `vramlint`, by resource. */
  readonly settings?: unknown;
  readonly arguments?: readonly string[];
  /** Of the server's own process, e.g. how large its heap may grow. */
  readonly nodeOptions?: readonly string[];
  /** Another way to start the server than the one of VS Code; `path` is where its commands are looked for. */
  readonly program?: {
    readonly command: string;
    readonly arguments: readonly string[];
    readonly path: string;
  };
  /** Addresses of the workspace's folders. */
  readonly folders?: readonly string[];
}

export class TestClient {
  settings: unknown;
  /** Where set, wins over `settings`. */
  settingsOf: ((uri: string | undefined) => unknown) | undefined;
  result: InitializeResult | undefined;
  /** Everything the server logged or printed, for failures. */
  readonly log: string[] = [];
  readonly published: PublishDiagnosticsParams[] = [];
  readonly statuses: { uri: string; state: string; findings: number }[] = [];
  /** What the server asked to be told of. */
  readonly registered: Registration[] = [];
  readonly unregistered: string[] = [];
  readonly refreshed = { diagnostics: 0, inlayHints: 0 };
  private readonly texts = new Map<string, TextDocument>();
  private readonly waiting = new Set<() => void>();

  private constructor(
    readonly process: ChildProcessWithoutNullStreams,
    readonly connection: ProtocolConnection,
  ) {}

  static async start(setup: ClientSetup = {}): Promise<TestClient> {
    const { program } = setup;
    const child =
      program === undefined
        ? spawn(process.execPath, [...(setup.nodeOptions ?? []), server, ...(setup.arguments ?? ["--stdio"])])
        : spawn(program.command, program.arguments, { env: { ...process.env, PATH: program.path } });
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    const client = new TestClient(child, connection);
    client.settings = setup.settings;
    client.listen();
    client.result = await connection.sendRequest<InitializeResult>("initialize", {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: setup.folders?.map((uri) => ({ uri, name: uri })) ?? null,
      capabilities: setup.capabilities ?? pullCapabilities,
      initializationOptions: setup.initializationOptions,
      locale: setup.locale,
    });
    await connection.sendNotification("initialized", {});
    return client;
  }

  private listen(): void {
    const { connection } = this;
    this.process.stderr.on("data", (chunk: Buffer) => this.log.push(chunk.toString()));
    this.process.stdin.on("error", () => undefined);
    connection.onNotification("window/logMessage", ({ message }: { message: string }) => {
      this.log.push(message);
    });
    connection.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
      this.published.push(params);
      for (const wake of this.waiting) wake();
    });
    connection.onNotification("vramlint/status", (status: TestClient["statuses"][number]) => {
      this.statuses.push(status);
      for (const wake of this.waiting) wake();
    });
    connection.onRequest("workspace/configuration", ({ items }: { items: { scopeUri?: string }[] }) =>
      items.map(({ scopeUri }) => this.settingsOf?.(scopeUri) ?? this.settings ?? null),
    );
    connection.onRequest("client/registerCapability", ({ registrations }: RegistrationParams) => {
      this.registered.push(...registrations);
      for (const wake of this.waiting) wake();
      return null;
    });
    connection.onRequest("client/unregisterCapability", ({ unregisterations }: UnregistrationParams) => {
      this.unregistered.push(...unregisterations.map(({ id }) => id));
      for (const wake of this.waiting) wake();
      return null;
    });
    connection.onRequest("workspace/diagnostic/refresh", () => {
      this.refreshed.diagnostics += 1;
      for (const wake of this.waiting) wake();
      return null;
    });
    connection.onRequest("workspace/inlayHint/refresh", () => {
      this.refreshed.inlayHints += 1;
      return null;
    });
    connection.onError(() => undefined);
    connection.listen();
  }

  async open(uri: string, text: string, languageId = "python"): Promise<void> {
    this.texts.set(uri, TextDocument.create(uri, languageId, 1, text));
    await this.connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId, version: 1, text },
    });
  }

  /** Sends changes and keeps the client's own copy. */
  async change(uri: string, changes: TextDocumentContentChangeEvent[]): Promise<void> {
    const before = this.documentOf(uri);
    const version = before.version + 1;
    this.texts.set(uri, TextDocument.update(before, changes, version));
    await this.connection.sendNotification("textDocument/didChange", {
      textDocument: { uri, version },
      contentChanges: changes,
    });
  }

  /** Replaces the first occurrence of a piece of the text. */
  async replace(uri: string, piece: string, replacement: string): Promise<void> {
    const document = this.documentOf(uri);
    const start = document.getText().indexOf(piece);
    assert.ok(start >= 0, `the text has no ${JSON.stringify(piece)}`);
    const range = { start: document.positionAt(start), end: document.positionAt(start + piece.length) };
    await this.change(uri, [{ range, text: replacement }]);
  }

  async save(uri: string): Promise<void> {
    await this.connection.sendNotification("textDocument/didSave", { textDocument: { uri } });
  }

  async close(uri: string): Promise<void> {
    this.texts.delete(uri);
    await this.connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
  }

  async changeSettings(settings: unknown): Promise<void> {
    this.settings = settings;
    await this.connection.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  textOf(uri: string): string {
    return this.documentOf(uri).getText();
  }

  positionOf(uri: string, piece: string, within = 0): Position {
    const document = this.documentOf(uri);
    const start = document.getText().indexOf(piece);
    assert.ok(start >= 0, `the text has no ${JSON.stringify(piece)}`);
    return document.positionAt(start + within);
  }

  private documentOf(uri: string): TextDocument {
    const document = this.texts.get(uri);
    assert.ok(document, `${uri} is not open`);
    return document;
  }

  report(uri: string, previousResultId?: string): Promise<DocumentDiagnosticReport> {
    return this.connection.sendRequest("textDocument/diagnostic", {
      textDocument: { uri },
      previousResultId,
    });
  }

  async pull(uri: string): Promise<Diagnostic[]> {
    const report = await this.report(uri);
    if (report.kind !== "full") assert.fail("a full report was asked for");
    return report.items;
  }

  async actions(uri: string, range: Range, context: Partial<CodeActionContext> = {}): Promise<CodeAction[]> {
    return this.connection.sendRequest("textDocument/codeAction", {
      textDocument: { uri },
      range,
      context: { diagnostics: [], ...context },
    });
  }

  actionsFor(uri: string, diagnostic: Diagnostic): Promise<CodeAction[]> {
    return this.actions(uri, diagnostic.range, { diagnostics: [diagnostic] });
  }

  hover(uri: string, position: Position): Promise<Hover | null> {
    return this.connection.sendRequest("textDocument/hover", { textDocument: { uri }, position });
  }

  inlayHints(uri: string): Promise<InlayHint[]> {
    const document = this.documentOf(uri);
    const range = { start: { line: 0, character: 0 }, end: { line: document.lineCount, character: 0 } };
    return this.connection.sendRequest("textDocument/inlayHint", { textDocument: { uri }, range });
  }

  /** The text of an open document with an edit applied; the document itself stays. */
  textAfter(uri: string, edit: WorkspaceEdit | undefined): string {
    return TextDocument.applyEdits(this.documentOf(uri), edit?.changes?.[uri] ?? []);
  }

  /** The next diagnostics pushed for a document that fulfil a condition, those that came already included. */
  async pushed(uri: string, condition: (params: PublishDiagnosticsParams) => boolean = () => true) {
    return this.until(() => this.published.find((params) => params.uri === uri && condition(params)));
  }

  /** Waits until something is there; looks again whenever a message has come. */
  async until<Value>(look: () => Value | undefined, limit = 20_000): Promise<Value> {
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.waiting.delete(attempt);
      };
      const attempt = (): void => {
        const value = look();
        if (value === undefined) return;
        finish();
        resolve(value);
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`nothing came within ${limit} ms; log:\n${this.log.join("\n")}`));
      }, limit);
      this.waiting.add(attempt);
      attempt();
    });
  }

  /** `shutdown` and `exit`; gives the exit code. */
  async stop(): Promise<number | null> {
    const ended = this.ended();
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    const code = await ended;
    this.connection.dispose();
    return code;
  }

  ended(): Promise<number | null> {
    if (this.process.exitCode !== null) return Promise.resolve(this.process.exitCode);
    return new Promise((resolve) => this.process.once("exit", (code) => resolve(code)));
  }

  kill(): void {
    this.process.kill("SIGKILL");
    this.connection.dispose();
  }
}

/** A message or a label, which may come in parts or with marks. */
export function plain(text: string | MarkupContent | readonly InlayHintLabelPart[] | undefined): string {
  if (text === undefined || typeof text === "string") return text ?? "";
  return "value" in text ? text.value : text.map(({ value }) => value).join("");
}
