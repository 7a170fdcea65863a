package io.kamille.core.h2;

/**
 * What the HPACK decoder is told of a field that may not be: it decodes on, so that its table stays
 * right, and makes a stream error of it. It costs no stack trace: hostile octets may have many.
 */
final class MalformedSection extends IllegalArgumentException {

  private static final long serialVersionUID = 1;

  MalformedSection(String reason) {
    super(reason);
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
