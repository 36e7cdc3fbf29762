/** The theme's colours as values: a saved picture has no theme to ask. */
export interface Palette {
  readonly background: string;
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly shade: string;
  readonly accent: string;
  readonly error: string;
  readonly warning: string;
  readonly font: string;
  readonly code: string;
  readonly isHighContrast: boolean;
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string, otherwise: string): string =>
    style.getPropertyValue(`--vscode-${name}`).trim() || otherwise;
  const { classList } = document.body;
  const isLight = classList.contains("vscode-light") || classList.contains("vscode-high-contrast-light");
  const foreground = value("editor-foreground", isLight ? "#1f1f1f" : "#cccccc");
  const isHighContrast = classList.contains("vscode-high-contrast");
  return {
    background: value("editor-background", isLight ? "#ffffff" : "#1e1e1e"),
    foreground,
    muted: isHighContrast ? foreground : value("descriptionForeground", foreground),
    grid: isLight ? "rgba(0, 0, 0, 0.10)" : "rgba(255, 255, 255, 0.12)",
    shade: isLight ? "rgba(0, 0, 0, 0.035)" : "rgba(255, 255, 255, 0.045)",
    accent: value("focusBorder", "#0078d4"),
    error: value("editorError-foreground", isLight ? "#c72e0f" : "#f48771"),
    warning: value("editorWarning-foreground", isLight ? "#a06900" : "#cca700"),
    font: value("font-family", "system-ui, sans-serif"),
    code: value("editor-font-family", "monospace"),
    isHighContrast,
  };
}

/** Calls back when the theme changes. */
export function watchPalette(changed: (palette: Palette) => void): void {
  const observer = new MutationObserver(() => changed(readPalette()));
  observer.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
}
