/** A square of a band's colour, beside its name. */
export function Swatch({ colour }: { colour: string }) {
  return (
    <svg class="swatch" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={colour} />
    </svg>
  );
}
