import "./activation";
import "./diagnostics";
import "./models";
import "./commands";
import "./notebooks";
import "./screenshots";
