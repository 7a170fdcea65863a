package io.kamille.core.http;

/** A content coding that stored content can be given (RFC 9110 §8.4.1). */
public enum ContentCoding {
  /** Zstandard (RFC 8878, RFC 9659). */
  ZSTD("zstd"),
  /** Brotli (RFC 7932). */
  BR("br"),
  /** RFC 1952; requests know it as {@code x-gzip} too. */
  GZIP("gzip");

  private final String token;

  ContentCoding(String token) {
    this.token = token;
  }

  /** Its name in {@code Accept-Encoding} and {@code Content-Encoding}, in lower case. */
  public String token() {
    return token;
  }
}
