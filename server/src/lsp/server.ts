/** The language server, whatever it runs in: `main.ts` or `worker.ts` gives it a connection and a host. */
import {
  CodeLensRefreshRequest,
  FileChangeType,
  LSPErrorCodes,
  ResponseError,
  TextDocumentSyncKind,
} from "vscode-languageserver";
import type {
  CancellationToken,
  Connection,
  InitializeParams,
  InitializeResult,
} from "vscode-languageserver";
import { languageFor } from "../messages/message";
import { initializeParser } from "../python/parse";
import type { FollowedImports } from "../workspace/imports";
import { Analyses } from "./analyses";
import type { Outcome } from "./analyses";
import { readClientFeatures } from "./client-features";
import type { ClientFeatures } from "./client-features";
import { codeActionKinds, codeActions } from "./code-actions";
import { codeLenses } from "./code-lens";
import { completion, completionTriggers } from "./completion";
import { Configuration } from "./configuration";
import { Diagnostics } from "./diagnostics";
import { DiskUnit } from "./disk-unit";
import { describe, Documents } from "./documents";
import { budgetHeaderMethod } from "./header-request";
import type { BudgetHeaderParams } from "./header-request";
import type { ServerHost, Surroundings } from "./host";
import { hover } from "./hover";
import { inlayHints } from "./inlay-hints";
import { interpreterMethod } from "./interpreter-request";
import type { InterpreterParams } from "./interpreter-request";
import { budgetHeader } from "./insert-header";
import { nextTurn } from "./next-turn";
import { NotebookUnit } from "./notebook-unit";
import { trainingPlanMethod } from "./plan-request";
import type { TrainingPlanParams } from "./plan-request";
import { ProjectFiles } from "./project-files";
import { clearScanMethod, scanMethod } from "./scan-request";
import type { ScanParams } from "./scan-request";
import type { Session } from "./session";
import { statusMethod } from "./status";
import type { TextUnit } from "./text-unit";
import { timeline } from "./timeline";
import { timelineMethod } from "./timeline-request";
import type { TimelineParams } from "./timeline-request";
import { planAnswer } from "./training-plan";
import { watchConfiguration, WatchAbove, watchWorkspace } from "./watching";
import { WorkspaceScan } from "./workspace-scan";

export function startServer(connection: Connection, host: ServerHost): void {
  connection.onInitialize((params) => {
    serve(connection, host, params);
    return initializeResult(host, readClientFeatures(params));
  });
  connection.listen();
}

function initializeResult(host: ServerHost, { options }: ClientFeatures): InitializeResult {
  const cells = [{ language: "python" }];
  const notebooks = options.schemes.map((scheme) => ({ notebook: { scheme }, cells }));
  return {
    serverInfo: { name: "vramlint", version: host.version },
    capabilities: {
      positionEncoding: "utf-16",
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
      notebookDocumentSync: {
        notebookSelector: notebooks.length > 0 ? notebooks : [{ notebook: "*", cells }],
        save: true,
      },
      diagnosticProvider: {
        identifier: "vramlint",
        interFileDependencies: true,
        workspaceDiagnostics: false,
      },
      codeActionProvider: { codeActionKinds: [...codeActionKinds] },
      completionProvider: { triggerCharacters: [...completionTriggers] },
      hoverProvider: true,
      inlayHintProvider: true,
      codeLensProvider: {},
      workspace: {
        workspaceFolders: { supported: true, changeNotifications: true },
        fileOperations: { didCreate: anyFile, didRename: anyFile, didDelete: anyFile },
      },
    },
  };
}

/** Folders too: a watcher of files does not tell that one went with all that was in it. */
const anyFile = { filters: [{ scheme: "file", pattern: { glob: "**/*" } }] };

/** Everything after `initialize`; the parser is loaded once the answer is out. */
function serve(connection: Connection, host: ServerHost, params: InitializeParams): void {
  const features = readClientFeatures(params);
  const project = new ProjectFiles(connection, host.settings);
  const configuration = new Configuration(connection, features, project);
  const parser = lazily(async () => initializeParser(await host.loadParser()));
  const logError = (text: string): void => connection.console.error(text);
  const background = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => logError(describe(error)));
  };
  const known = new Set<TextUnit>();
  const folders = new Set((params.workspaceFolders ?? []).map(({ uri }) => uri));

  const finished = (unit: TextUnit, outcome: Outcome): void => {
    if (unit instanceof DiskUnit) return;
    if (outcome.kind === "analysed") {
      connection.console.debug(`${unit.uri} version ${unit.version}: ${outcome.milliseconds.toFixed(1)} ms`);
    }
    if (!features.options.status) return;
    const analysed = outcome.kind === "analysed";
    const findings = analysed ? outcome.analysis.findings.length : 0;
    const milliseconds = analysed ? outcome.milliseconds : 0;
    background(
      connection.sendNotification(statusMethod, {
        uri: unit.uri,
        state: outcome.kind,
        findings,
        milliseconds,
      }),
    );
  };

  const showMistakesOfProject = async (unit: TextUnit): Promise<void> => {
    const { language } = await configuration.of(unit.uri);
    await project.publish(language);
  };
  const documents = new Documents({
    changed(unit) {
      if (!known.has(unit)) {
        // Nobody tells of changed files: they are read anew with each document that is opened.
        if (!features.watchesFiles) configuration.projectChanged();
        background(showMistakesOfProject(unit));
      }
      diagnostics.changed(unit, !known.has(unit));
      if (!known.has(unit)) scan.opened(unit.uri);
      known.add(unit);
      diagnostics.importsChanged();
    },
    saved: (unit) => background(diagnostics.saved(unit)),
    closed(unit, uris) {
      known.delete(unit);
      configuration.forget(unit.uri);
      diagnostics.closed(unit, uris);
      diagnostics.importsChanged();
      scan.closed(unit.uri);
    },
    cellsRemoved: (uris) => diagnostics.clear(uris),
  });
  let python: string | undefined;
  /** The imports of a document; out of date as soon as another interpreter is chosen. */
  const importsOf = (uri: string): FollowedImports | undefined => {
    const chosen = python;
    const followed = host.followImports?.(uri, {
      folders: [...folders],
      open: () => openFiles(documents),
      python: chosen,
    });
    return followed && { ...followed, isCurrent: () => chosen === python && followed.isCurrent() };
  };
  const session: Session = {
    connection,
    host,
    features,
    configuration,
    documents,
    analyses: new Analyses(
      configuration,
      logError,
      () => host.now(),
      finished,
      (unit) => importsOf(unit.uri),
    ),
    parserReady: parser,
    background,
  };
  const diagnostics = new Diagnostics(session);
  const scan = new WorkspaceScan(session, diagnostics, () => [...folders]);
  const followWorkspace = async (): Promise<void> => {
    const [first] = folders;
    if (first === undefined) return;
    const { scope } = await configuration.ofFile(first, first);
    await scan.follow(scope === "workspace");
  };

  const above = new WatchAbove(connection);
  const watchAboveFolders = (): void => {
    if (features.watchesOutside && host.settings !== undefined) background(above.follow([...folders]));
  };

  /** Hints and lenses are not asked for again by themselves. */
  const refreshFigures = (): void => {
    if (features.refreshesInlayHints) background(connection.languages.inlayHint.refresh());
    if (features.refreshesCodeLenses) background(connection.sendRequest(CodeLensRefreshRequest.type));
  };

  documents.listen(connection);
  const contained = containment(connection);
  connection.languages.diagnostics.on(
    contained((asked) => diagnostics.report(asked), { kind: "full", items: [] }),
  );
  connection.onCodeAction(contained((asked) => codeActions(session, asked), []));
  connection.onCompletion(contained((asked) => completion(session, asked), []));
  connection.onRequest(
    budgetHeaderMethod,
    contained((asked: BudgetHeaderParams) => budgetHeader(session, asked), null),
  );
  connection.onRequest(
    trainingPlanMethod,
    contained((asked: TrainingPlanParams) => planAnswer(session, asked), null),
  );
  connection.onRequest(
    timelineMethod,
    contained((asked: TimelineParams) => timeline(session, asked), null),
  );
  connection.onRequest(scanMethod, async ({ workDoneToken }: ScanParams, token: CancellationToken) => {
    const progress = connection.window.attachWorkDoneProgress(workDoneToken);
    try {
      return (await scan.run(token, progress)) ?? null;
    } catch (error) {
      logError(`the workspace could not be checked: ${describe(error)}`);
      return null;
    }
  });
  connection.onNotification(clearScanMethod, () => scan.clear());
  connection.onNotification(interpreterMethod, ({ path }: InterpreterParams) => {
    python = path;
    diagnostics.importsChanged();
  });
  connection.onHover(contained((asked) => hover(session, asked), null));
  connection.onCodeLens(contained((asked) => codeLenses(session, asked), []));
  connection.languages.inlayHint.on(contained((asked) => inlayHints(session, asked), []));

  connection.onDidChangeConfiguration(({ settings }) => {
    configuration.changed(settings);
    diagnostics.settingsChanged();
    scan.settingsChanged();
    background(followWorkspace());
    refreshFigures();
  });
  const moved = (): void => scan.filesMoved();
  connection.workspace.onDidCreateFiles(moved);
  connection.workspace.onDidRenameFiles(moved);
  connection.workspace.onDidDeleteFiles(moved);
  connection.onDidChangeWatchedFiles(({ changes }) => {
    for (const { uri, type } of changes) {
      // The scan reads no configurations, and runs write many such files.
      if (/\.(json|ya?ml)$/i.test(uri)) continue;
      if (type === FileChangeType.Changed) scan.textChanged(uri);
      else moved();
    }
    if (changes.every(({ uri }) => !uri.endsWith(".toml"))) {
      diagnostics.importsChanged();
      return;
    }
    configuration.projectChanged();
    diagnostics.settingsChanged();
    scan.settingsChanged();
    refreshFigures();
    const units = documents.all();
    for (const unit of units) background(showMistakesOfProject(unit));
    if (units.length === 0) background(project.publish(languageFor(features.locale)));
  });
  connection.onInitialized(() => {
    if (params.capabilities.workspace?.workspaceFolders === true) {
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        removed.forEach(({ uri }) => folders.delete(uri));
        added.forEach(({ uri }) => folders.add(uri));
        diagnostics.settingsChanged();
        scan.settingsChanged();
        watchAboveFolders();
      });
    }
    background(parser());
    if (features.watchesFiles) background(watchWorkspace(connection));
    watchAboveFolders();
    if (features.watchesConfiguration) background(watchConfiguration(connection));
    background(followWorkspace());
  });
}

/** The open files that others may import. */
function openFiles(documents: Documents): ReturnType<Surroundings["open"]> {
  return documents.all().flatMap((unit) => {
    if (unit instanceof NotebookUnit || unit.isTooLarge) return [];
    return [{ uri: unit.uri, text: unit.text }];
  });
}

/** Runs an action once, on first use; after a failure the next use tries again. */
function lazily(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= action().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  };
}

/**
 * A request that breaks is logged and answers `empty`: a server that dies five times is not started again. One that
 * was cancelled while it waited says so.
 */
function containment(connection: Connection) {
  return <Params, Result>(handle: (params: Params) => Promise<Result | undefined>, empty: Result) =>
    async (params: Params, token: CancellationToken): Promise<Result> => {
      await nextTurn();
      if (token.isCancellationRequested) throw new ResponseError(LSPErrorCodes.RequestCancelled, "cancelled");
      try {
        return (await handle(params)) ?? empty;
      } catch (error) {
        connection.console.error(`a request failed: ${describe(error)}`);
        return empty;
      }
    };
}
