/** What shows that a package is whole: each of its files is used by one of these. */
import "./activation";
import "./commands";
import "./timeline";
