/** The project's settings files: what they say about a document, and what is wrong with them. */
import type { Connection, Diagnostic } from "vscode-languageserver";
import { defaultsOf, rulesFor } from "../analysis/project-settings";
import type { RuleChoice } from "../analysis/project-settings";
import type { AnalysisOptions } from "../analysis";
import { render } from "../messages/message";
import type { Language } from "../messages/message";
import { ignoredIn, isExcluded } from "../workspace/settings";
import type { FileSettings } from "../workspace/settings";
import { severities } from "./protocol-text";

/** What a place with a disk gives. */
export interface SettingsSource {
  /** The settings that hold for a document, by its address, with its path. */
  of(uri: string): { readonly settings: FileSettings; readonly path: string } | undefined;
  /** Every file read so far, with its address. */
  all(): readonly { readonly settings: FileSettings; readonly uri: string }[];
  forget(): void;
}

/** What the project says about one document. */
export interface ProjectView {
  readonly isExcluded: boolean;
  readonly language: Language | undefined;
  /** With what the editor says on top. */
  optionsWith(editor: RuleChoice): AnalysisOptions;
}

export class ProjectFiles {
  private published = new Map<string, string>();

  constructor(
    private readonly connection: Connection,
    private readonly source: SettingsSource | undefined,
  ) {}

  of(uri: string): ProjectView | undefined {
    const found = this.source?.of(uri);
    if (found === undefined) return undefined;
    const { settings, path } = found;
    return {
      isExcluded: isExcluded(settings, path),
      language: settings.language,
      optionsWith: (editor) => ({
        ...rulesFor(editor, settings, ignoredIn(settings, path)),
        defaults: defaultsOf(settings),
      }),
    };
  }

  forget(): void {
    this.source?.forget();
  }

  /** Shows the mistakes in the files that were read, and takes back what is no longer wrong. */
  async publish(language: Language): Promise<void> {
    const found = new Map<string, Diagnostic[]>();
    for (const { settings, uri } of this.source?.all() ?? [])
      found.set(uri, diagnosticsOf(settings, language));
    const before = this.published;
    this.published = new Map([...found].map(([uri, diagnostics]) => [uri, JSON.stringify(diagnostics)]));
    for (const uri of new Set([...before.keys(), ...found.keys()])) {
      if ((before.get(uri) ?? "[]") === (this.published.get(uri) ?? "[]")) continue;
      await this.connection.sendDiagnostics({ uri, diagnostics: found.get(uri) ?? [] });
    }
  }
}

function diagnosticsOf({ source, problems }: FileSettings, language: Language): Diagnostic[] {
  const position = (offset: number) => {
    const { line, column } = source.positionAt(offset);
    return { line, character: column };
  };
  return problems.map(({ span, message }) => ({
    range: { start: position(span.start), end: position(span.end) },
    severity: severities.error,
    source: "vramlint",
    message: render(message, language),
  }));
}
