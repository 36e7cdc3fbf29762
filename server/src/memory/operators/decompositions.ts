/**
 * `torch.linalg`: decompositions and what is solved with them (native/BatchLinearAlgebra.cpp, derivatives.yaml). Results and
 * what is kept are exact. LAPACK's and cuSOLVER's workspaces and what the gradients' formulas allocate on their way are not
 * counted in full, so that a step with one of them is a lower bound.
 */
import { isComplex, type Dtype, type Tensor } from "../tensor";
import { isTensor, tensorsIn, type Argument } from "./argument";
import { differentiable, fullPrecision } from "./autograd";
import { both, type OperatorCall, type OperatorRow } from "./operator";
import { shapesDoNotFit, workspaceNotKnown } from "./reasons";
import { named } from "./reductions";

/** A tensor that a decomposition makes: of the shape of the matrices `[..., m, n]`. */
interface Part {
  readonly shape: (sizes: Sizes) => readonly number[];
  readonly dtype?: Dtype | "real";
  /** It has a gradient. */
  readonly isDifferentiable?: boolean;
}

interface Sizes {
  readonly batch: readonly number[];
  readonly rows: number;
  readonly columns: number;
  readonly smaller: number;
  /** Shape of what is solved for; empty where there is nothing. */
  readonly other: readonly number[];
}

interface Decomposition {
  readonly names: readonly string[];
  readonly signature: string;
  readonly node: string;
  /** Names of the tensor arguments. */
  readonly inputs: readonly string[];
  readonly parts: Readonly<Record<string, Part>>;
  /** Names of inputs and parts that are kept. */
  readonly saved: readonly string[];
  /** Names of the parts that are handed out; one alone is no tuple. */
  readonly results: readonly string[];
  /** The matrices must be square. */
  readonly isSquare?: boolean;
  /** How many matrices the formula of the gradient makes on its way (FunctionsManual.cpp); more where it is not said. */
  readonly meanwhile?: number;
}

const scalar: Part = { shape: ({ batch }) => batch, isDifferentiable: true };
const whole: Part = {
  shape: ({ batch, rows, columns }) => [...batch, rows, columns],
  isDifferentiable: true,
};
const factors: Part = { shape: whole.shape };
const pivots: Part = { shape: ({ batch, smaller }) => [...batch, smaller], dtype: "int32" };
const info: Part = { shape: ({ batch }) => batch, dtype: "int32" };
const solved: Part = { shape: ({ other }) => other, isDifferentiable: true };

/** Of symmetric matrices; both are computed and kept, whichever is asked for. */
const eigen = {
  signature: "A, UPLO='L', *, out=None",
  node: "LinalgEighBackward0",
  inputs: ["A"],
  parts: {
    eigenvalues: {
      shape: ({ batch, smaller }: Sizes) => [...batch, smaller],
      dtype: "real",
      isDifferentiable: true,
    },
    eigenvectors: whole,
  },
  saved: ["eigenvalues", "eigenvectors"],
  isSquare: true,
} as const;

const decompositions: readonly Decomposition[] = [
  {
    names: ["torch.linalg.inv", ...both("inverse")],
    signature: "A, *, out=None",
    node: "LinalgInvExBackward0",
    meanwhile: 2,
    inputs: ["A"],
    parts: { inverse: whole, info },
    saved: ["inverse"],
    results: ["inverse"],
    isSquare: true,
  },
  {
    names: ["torch.linalg.det", ...both("det")],
    signature: "A, *, out=None",
    node: "LinalgDetBackward0",
    meanwhile: 2,
    inputs: ["A"],
    parts: { result: scalar, LU: factors, pivots },
    saved: ["A", "LU", "pivots", "result"],
    results: ["result"],
    isSquare: true,
  },
  {
    names: ["torch.linalg.slogdet", ...both("slogdet")],
    signature: "A, *, out=None",
    node: "LinalgSlogdetBackward0",
    meanwhile: 1,
    inputs: ["A"],
    parts: { sign: { shape: ({ batch }) => batch }, logabsdet: scalar, LU: factors, pivots },
    saved: ["A", "LU", "pivots", "sign"],
    results: ["sign", "logabsdet"],
    isSquare: true,
  },
  {
    names: ["torch.linalg.solve"],
    signature: "A, B, *, left=True, out=None",
    node: "LinalgSolveExBackward0",
    meanwhile: 1,
    inputs: ["A", "B"],
    parts: { result: solved, LU: factors, pivots, info },
    saved: ["A", "LU", "pivots", "result"],
    results: ["result"],
    isSquare: true,
  },
  {
    names: ["torch.linalg.solve_triangular"],
    signature: "A, B, *, upper, left=True, unitriangular=False, out=None",
    node: "LinalgSolveTriangularBackward0",
    meanwhile: 1,
    inputs: ["A", "B"],
    parts: { result: solved },
    saved: ["A", "result"],
    results: ["result"],
    isSquare: true,
  },
  {
    names: ["torch.linalg.cholesky", ...both("cholesky")],
    signature: "A, *, upper=False, out=None",
    node: "LinalgCholeskyExBackward0",
    meanwhile: 1,
    inputs: ["A"],
    parts: { L: whole, info },
    saved: ["L"],
    results: ["L"],
    isSquare: true,
  },
  {
    ...eigen,
    names: ["torch.linalg.eigh"],
    meanwhile: 3,
    results: ["eigenvalues", "eigenvectors"],
  },
  {
    ...eigen,
    names: ["torch.linalg.eigvalsh"],
    meanwhile: 1,
    results: ["eigenvalues"],
  },
];

function sizesOf(call: OperatorCall, row: Decomposition, given: readonly Tensor[]): Sizes {
  const [matrix, other] = given;
  const shape = matrix?.shape ?? [];
  const [rows = 1, columns = 1] = shape.slice(-2);
  if (shape.length < 2 || (row.isSquare === true && rows !== columns))
    call.fail(
      shapesDoNotFit(
        call.name,
        given.map((each) => each.shape),
      ),
    );
  return {
    batch: shape.slice(0, -2),
    rows,
    columns,
    smaller: Math.min(rows, columns),
    other: other?.shape ?? [],
  };
}

function realOf(dtype: Dtype): Dtype {
  return isComplex(dtype) ? (dtype === "complex128" ? "float64" : "float32") : dtype;
}

function decompose(call: OperatorCall, row: Decomposition): Argument {
  const { frame } = call;
  const asked = row.inputs.map((name) => call.tensor(name));
  const given = fullPrecision(frame, asked);
  const sizes = sizesOf(call, row, given);
  const { dtype } = given[0] ?? call.tensor(row.inputs[0] ?? "A");
  const made = new Map<string, Tensor>();
  for (const [name, part] of Object.entries(row.parts))
    made.set(
      name,
      frame.empty(part.shape(sizes), part.dtype === "real" ? realOf(dtype) : (part.dtype ?? dtype)),
    );
  if (frame.execution.needsGraph(given)) frame.execution.noteBound(workspaceNotKnown(call.name));
  const outputs = Object.entries(row.parts).flatMap(([name, part]) => {
    const tensor = made.get(name);
    return part.isDifferentiable === true && tensor !== undefined ? [tensor] : [];
  });
  const byName = (name: string): Tensor | undefined => made.get(name) ?? given[row.inputs.indexOf(name)];
  const shapes = given.map((tensor) => tensor.shape);
  differentiable(frame, {
    name: row.node,
    inputs: given,
    outputs,
    saved: row.saved.map(byName),
    backward: (inner, _gradients, _saved, wanted) => {
      for (let i = 0; i < (row.meanwhile ?? 0); i++) inner.empty(shapes[0] ?? [], dtype);
      return shapes.map((shape, i) => (wanted[i] === true ? inner.empty(shape, dtype) : undefined));
    },
  });
  const results = row.results.map((name) => made.get(name)).filter(isTensor);
  return results.length === 1 ? (results[0] ?? null) : named(row.results, results);
}

/** `torch.linalg.svd` and `qr`: how large their factors are depends on what is asked for. */
function singularValues(call: OperatorCall, isFull: boolean): Argument {
  return decompose(call, {
    names: [],
    signature: "",
    node: "LinalgSvdBackward0",
    inputs: ["A"],
    parts: {
      U: {
        shape: ({ batch, rows, smaller }) => [...batch, rows, isFull ? rows : smaller],
        isDifferentiable: true,
      },
      S: { shape: ({ batch, smaller }) => [...batch, smaller], dtype: "real", isDifferentiable: true },
      Vh: {
        shape: ({ batch, columns, smaller }) => [...batch, isFull ? columns : smaller, columns],
        isDifferentiable: true,
      },
    },
    saved: ["U", "S", "Vh"],
    results: call.name === "torch.linalg.svdvals" ? ["S"] : ["U", "S", "Vh"],
  });
}

function orthogonalTriangular(call: OperatorCall): Argument {
  const isComplete = call.text("mode") === "complete";
  return decompose(call, {
    names: [],
    signature: "",
    node: "LinalgQrBackward0",
    inputs: ["A"],
    parts: {
      Q: {
        shape: ({ batch, rows, smaller }) => [...batch, rows, isComplete ? rows : smaller],
        isDifferentiable: true,
      },
      R: {
        shape: ({ batch, rows, columns, smaller }) => [...batch, isComplete ? rows : smaller, columns],
        isDifferentiable: true,
      },
    },
    saved: ["Q", "R"],
    results: ["Q", "R"],
  });
}

export const decompositionRows: readonly OperatorRow[] = [
  ...decompositions.map((row): OperatorRow => ({
    names: row.names,
    // methods call their matrix self
    signature: row.signature,
    run: (call) => decompose(call, row),
  })),
  {
    names: ["torch.linalg.svd"],
    signature: "A, full_matrices=True, *, driver=None, out=None",
    run: (call) => singularValues(call, call.boolean("full_matrices")),
  },
  {
    names: ["torch.linalg.svdvals"],
    signature: "A, *, driver=None, out=None",
    run: (call) => singularValues(call, false),
  },
  {
    names: ["torch.linalg.qr"],
    signature: "A, mode='reduced', *, out=None",
    run: orthogonalTriangular,
  },
  {
    names: both("logdet"),
    signature: "A",
    run: (call) => {
      const found = call.call("torch.linalg.slogdet", [call.tensor("A")]);
      const [sign, logarithm] = tensorsIn(found);
      if (sign === undefined || logarithm === undefined) return call.notUnderstood("A");
      const masked = call.op("torch.where", [
        call.op("torch.eq", [sign, -1]),
        call.op("torch.log", [sign]),
        0.5,
      ]);
      return call.op("torch.add", [masked, logarithm]);
    },
  },
];
