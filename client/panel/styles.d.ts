/** The bundler takes styles from their import. */
declare module "*.css";
