package io.kamille.core.h2;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Octets;
import io.netty.util.AsciiString;

/** What a field of a section must look like (RFC 9113 §8.2, §8.3). Stateless. */
final class FieldRules {

  private FieldRules() {}

  /**
   * The hash of a name that is a token in lower case (§8.2.1).
   *
   * @throws MalformedSection if it is none
   */
  static int hashOfName(AsciiString name) {
    byte[] octets = name.array();
    int hash = 0;
    int end = name.arrayOffset() + name.length();
    for (int i = name.arrayOffset(); i < end; i++) {
      byte octet = octets[i];
      if (octet == 0 || Octets.tokenLower(octet) != octet) {
        throw new MalformedSection("a field name that is no token in lower case");
      }
      hash = FieldName.hashStep(hash, octet);
    }
    return hash;
  }

  /**
   * No control octet but the tab, no blank at either end (§8.2.1).
   *
   * @throws MalformedSection otherwise
   */
  static void checkValue(AsciiString value) {
    byte[] octets = value.array();
    int start = value.arrayOffset();
    int end = start + value.length();
    for (int i = start; i < end; i++) {
      byte octet = octets[i];
      if (octet >= 0 && (octet < ' ' || octet == 0x7f) && octet != '\t') {
        throw new MalformedSection("a control octet in a value");
      }
    }
    if (end > start && (Octets.isBlank(octets[start]) || Octets.isBlank(octets[end - 1]))) {
      throw new MalformedSection("a blank around a value");
    }
  }

  /**
   * The number that {@code content-length} is (§8.1.1).
   *
   * @param isRepeated whether another line said one before
   * @throws MalformedSection if it is no number, or repeated
   */
  static long length(AsciiString value, boolean isRepeated) {
    int start = value.arrayOffset();
    long length = Octets.decimal(value.array(), start, start + value.length());
    if (isRepeated || length < 0) {
      throw new MalformedSection("a content-length that is not one number");
    }
    return length;
  }

  /** Whether it is an absolute path of visible ASCII, or the asterisk of OPTIONS (§8.3.1). */
  static boolean isPath(AsciiString target, AsciiString method) {
    if (target.byteAt(0) != '/') {
      return target.contentEquals("*") && method.contentEquals("OPTIONS");
    }
    for (int i = 0; i < target.length(); i++) {
      byte octet = target.byteAt(i);
      if (octet <= ' ' || octet == 0x7f || octet == '#') {
        return false;
      }
    }
    return true;
  }
}
