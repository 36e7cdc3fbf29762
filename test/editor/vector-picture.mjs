/**
 * A part of a page as an SVG: its words, boxes and lines, in the colours of whatever theme it is shown with. For the pictures of
 * the walkthrough, which travel with the extension: a tenth of a bitmap's size, and right in light and in dark.
 */

/** Runs in the page: nothing from outside may be used. @param {{ x: number, y: number, width: number, height: number }} clip */
export function vectorPicture(clip) {
  const themed = [
    "editor-foreground",
    "editor-background",
    "foreground",
    "descriptionForeground",
    "editorLineNumber-foreground",
    "editorLineNumber-activeForeground",
    "editorHoverWidget-background",
    "editorHoverWidget-border",
    "editorHoverWidget-foreground",
    "editorHoverWidget-statusBarBackground",
    "editorWidget-background",
    "editorWidget-border",
    "editorSuggestWidget-background",
    "editorSuggestWidget-border",
    "editorSuggestWidget-foreground",
    "editorSuggestWidget-selectedBackground",
    "editorSuggestWidget-selectedForeground",
    "editorSuggestWidget-highlightForeground",
    "editorActionList-background",
    "editorActionList-focusBackground",
    "editorActionList-focusForeground",
    "menu-background",
    "textLink-foreground",
    "editorInlayHint-foreground",
    "editorInlayHint-background",
    "editorBracketHighlight-foreground1",
    "editorBracketHighlight-foreground2",
    "editorBracketHighlight-foreground3",
    "widget-border",
    "list-activeSelectionBackground",
    "list-activeSelectionForeground",
    "quickInputList-focusBackground",
    "quickInputList-focusForeground",
  ];
  /** The colours of code are no colours of the theme's: the nearest that every theme has. */
  const ofCode = {
    "rgb(197, 134, 192)": "charts-purple",
    "rgb(86, 156, 214)": "charts-blue",
    "rgb(220, 220, 170)": "symbolIcon-functionForeground",
    "rgb(78, 201, 176)": "terminal-ansiCyan",
    "rgb(156, 220, 254)": "editor-foreground",
    "rgb(206, 145, 120)": "debugTokenExpression-string",
    "rgb(181, 206, 168)": "debugTokenExpression-number",
    "rgb(106, 153, 85)": "charts-green",
    "rgb(212, 212, 212)": "editor-foreground",
  };
  const probe = document.createElement("span");
  document.body.append(probe);
  const names = new Map(Object.entries(ofCode));
  for (const name of themed.reverse()) {
    probe.style.color = "";
    probe.style.color = `var(--vscode-${name}, #010203)`;
    (document.querySelector(".monaco-workbench") ?? document.body).append(probe);
    const resolved = getComputedStyle(probe).color;
    if (resolved !== "rgb(1, 2, 3)") names.set(resolved, name);
  }
  probe.remove();
  const colour = (value) => (names.has(value) ? `var(--vscode-${names.get(value)}, ${value})` : value);
  /** Of a box: one that no theme names must not stay dark in a light one. */
  const ground = (value) => (names.has(value) ? colour(value) : "var(--vscode-list-hoverBackground)");
  const round = (value) => Math.round(value * 10) / 10;
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const isSeen = (value) => value !== "none" && value !== "transparent" && !/^rgba\(.*, 0\)$/.test(value);
  const parts = [];

  const isInside = ({ left, top, right, bottom }) =>
    right > clip.x && left < clip.x + clip.width && bottom > clip.y && top < clip.y + clip.height;

  /** What the boxes around an element let through. */
  function visibleBox(element) {
    const box = { left: clip.x, top: clip.y, right: clip.x + clip.width, bottom: clip.y + clip.height };
    for (let around = element; around instanceof Element; around = around.parentElement) {
      if (getComputedStyle(around).overflow === "visible") continue;
      const rect = around.getBoundingClientRect();
      box.left = Math.max(box.left, rect.left);
      box.top = Math.max(box.top, rect.top);
      box.right = Math.min(box.right, rect.right);
      box.bottom = Math.min(box.bottom, rect.bottom);
    }
    return box;
  }

  /** The window around the editor and the widgets over it is left out. */
  const drawn = ".monaco-editor, .monaco-hover, .action-widget, #panel";

  function drawBox(element, style) {
    if (element.closest(drawn) === null) return;
    const shown = visibleBox(element);
    const rect = element.getBoundingClientRect();
    const left = Math.max(rect.left, shown.left - 1);
    const top = Math.max(rect.top, shown.top - 1);
    const width = Math.min(rect.right, shown.right + 1) - left;
    const height = Math.min(rect.bottom, shown.bottom + 1) - top;
    if (width <= 0 || height <= 0) return;
    const place = `x="${round(left - clip.x)}" y="${round(top - clip.y)}" width="${round(width)}" height="${round(height)}"`;
    if (/squiggly-(error|warning|info)/.test(element.className)) {
      const kind = /squiggly-(error|warning|info)/.exec(element.className)[1];
      const y = round(rect.bottom - clip.y - 1.5);
      let path = `M${round(rect.left - clip.x)} ${y}`;
      for (let x = 0; x < width - 1; x += 4) path += "l2-2 2 2";
      parts.push(
        `<path d="${path}" fill="none" stroke="var(--vscode-editor${kind[0].toUpperCase()}${kind.slice(1)}-foreground)"/>`,
      );
      return;
    }
    if (element.matches("input, select")) {
      drawControl(element, { x: left - clip.x, y: top - clip.y, width, height }, style);
      return;
    }
    const fill = style.backgroundColor;
    const hasBorder = ["Top", "Bottom", "Left", "Right"].every(
      (side) => style[`border${side}Width`] !== "0px" && style[`border${side}Style`] !== "none",
    );
    const stroke =
      hasBorder && isSeen(style.borderTopColor) ? ` stroke="${colour(style.borderTopColor)}"` : "";
    if (!isSeen(fill) && stroke === "") return;
    const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
    const rounded = radius > 0 ? ` rx="${radius}"` : "";
    parts.push(`<rect ${place}${rounded} fill="${isSeen(fill) ? ground(fill) : "none"}"${stroke}/>`);
  }

  /** Its value, as the browser paints it. */
  function drawControl(control, { x, y, width, height }, style) {
    const middle = round(y + height / 2);
    const ink = "var(--vscode-foreground)";
    if (control.type === "range") {
      const share =
        (control.valueAsNumber - Number(control.min)) / (Number(control.max) - Number(control.min) || 1);
      parts.push(
        `<path d="M${round(x)} ${middle}h${round(width)}" stroke="${ink}" stroke-opacity="0.35" stroke-width="3"/>`,
        `<circle cx="${round(x + 6 + share * (width - 12))}" cy="${middle}" r="6" fill="var(--vscode-button-background)"/>`,
      );
      return;
    }
    if (control.type === "checkbox") return;
    const value = control.selectedOptions?.[0]?.text ?? control.value;
    const size = Number.parseFloat(style.fontSize);
    parts.push(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="none" stroke="${ink}" stroke-opacity="0.35"/>`,
      `<text x="${round(x + 6)}" y="${round(y + height / 2 + size * 0.36)}" font-size="${round(size)}" class="u" fill="${ink}">${escape(value)}</text>`,
    );
  }

  /** A text node's lines: where a wrapped line begins, its characters stand lower. */
  function linesOf(node) {
    const range = document.createRange();
    const lines = [];
    for (let at = 0; at < node.data.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const rect = range.getClientRects()[0];
      if (rect === undefined || rect.width === 0) continue;
      const last = lines.at(-1);
      if (last === undefined || Math.abs(last.top - rect.top) > 3)
        lines.push({
          text: node.data[at],
          left: rect.left,
          right: rect.right,
          top: rect.top,
          bottom: rect.bottom,
        });
      else Object.assign(last, { text: last.text + node.data[at], right: Math.max(last.right, rect.right) });
    }
    return lines;
  }

  function drawText(node, style) {
    const shown = visibleBox(node.parentElement);
    for (const line of linesOf(node)) {
      const middle = (line.top + line.bottom) / 2;
      const text = line.text.replace(/\s+$/, "");
      if (text.trim() === "" || !isInside(line)) continue;
      if (middle < shown.top || middle > shown.bottom || line.left > shown.right || line.right < shown.left)
        continue;
      const indent = text.length - text.trimStart().length;
      const advance = (line.right - line.left) / line.text.length;
      const left = line.left + indent * advance;
      const width = (text.length - indent) * advance;
      const size = Number.parseFloat(style.fontSize);
      const isCode = /mono/i.test(style.fontFamily);
      const weight = Number(style.fontWeight) >= 600 ? ' font-weight="600"' : "";
      parts.push(
        `<text x="${round(left - clip.x)}" y="${round(middle - clip.y + size * 0.36)}" textLength="${round(width)}" ` +
          `lengthAdjust="spacingAndGlyphs" font-size="${round(size)}" class="${isCode ? "c" : "u"}"${weight} ` +
          `fill="${colour(style.color)}">${escape(text.trimStart())}</text>`,
      );
    }
  }

  function drawShape(element, style) {
    const { a, b, c, d, e, f } = element.getScreenCTM();
    const matrix = [a, b, c, d, e - clip.x, f - clip.y].map(round).join(" ");
    const names = ["d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height", "points"];
    const geometry = names
      .filter((name) => element.hasAttribute(name))
      .map(
        (name) =>
          `${name}="${element.getAttribute(name).replaceAll(/\d+\.\d+/g, (number) => String(round(Number(number))))}"`,
      );
    const stroke = isSeen(style.stroke)
      ? ` stroke="${colour(style.stroke)}" stroke-width="${round(Number.parseFloat(style.strokeWidth))}"`
      : "";
    const dashes =
      style.strokeDasharray === "none" || stroke === "" ? "" : ` stroke-dasharray="${style.strokeDasharray}"`;
    const opacity = style.fillOpacity === "1" ? "" : ` fill-opacity="${style.fillOpacity}"`;
    const fill = isSeen(style.fill) ? colour(style.fill) : "none";
    if (fill === "none" && stroke === "") return;
    parts.push(
      `<${element.tagName} ${geometry.join(" ")} transform="matrix(${matrix})" fill="${fill}"${opacity}${stroke}${dashes}/>`,
    );
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node instanceof Element ? node : node.parentElement;
    const style = getComputedStyle(element);
    const isHidden = style.visibility === "hidden" || style.display === "none" || style.opacity === "0";
    if (
      isHidden ||
      element.closest(".cursors-layer, .native-edit-context, script, style, .minimap, .scrollbar") !== null
    )
      continue;
    if (node instanceof SVGGeometryElement) drawShape(node, style);
    else if (node instanceof HTMLElement) {
      if (isInside(node.getBoundingClientRect())) drawBox(node, style);
    } else if (node instanceof Text) {
      const inSvg = element instanceof SVGElement;
      drawText(node, inSvg ? { ...copyOf(style), color: style.fill } : style);
    }
  }

  function copyOf({ fontSize, fontFamily, fontWeight, color }) {
    return { fontSize, fontFamily, fontWeight, color };
  }

  return { size: [clip.width, clip.height], parts };
}

/** @returns {string} the file's text */
export function svgText({ size: [width, height], parts }) {
  const families = {
    c: 'font-family="var(--vscode-editor-font-family, monospace)"',
    u: 'font-family="var(--vscode-font-family, sans-serif)"',
  };
  // A page that shows it may forbid style sheets: everything is an attribute.
  const plain = parts.map((part) => part.replace(/class="([cu])"/, (_, kind) => families[kind]));
  const ground = `<rect width="${width}" height="${height}" fill="var(--vscode-editor-background, #1f1f1f)"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n${ground}\n${plain.join("\n")}\n</svg>\n`;
}
