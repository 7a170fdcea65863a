package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request field that selects a response, with the value it had (RFC 9111 §4.1).
 *
 * @param name in lower case
 * @param known the same, if it is one of ours
 * @param value what the request had, its lines joined; null if it had none
 * @param normal the value in the form that equivalent values share; null if there was none
 */
record SelectingField(
    String name, @Nullable FieldName known, @Nullable String value, @Nullable String normal) {

  static SelectingField of(String name, Fields request) {
    String value = joined(name, request);
    FieldName known = FieldName.of(name);
    return new SelectingField(
        name, known, value, value == null ? null : SelectingValues.normal(known, value));
  }

  /** Whether the field is in this request what it was then, or equivalent, or absent as then. */
  boolean matches(Fields request) {
    int index = indexOf(request, 0);
    if (index < 0 || value == null) {
      return index < 0 && value == null;
    }
    boolean isOneLine = indexOf(request, index + 1) < 0;
    if (isOneLine && isValue(request, index, value)) {
      return true;
    }
    String present = joined(name, request);
    return present != null && SelectingValues.normal(known, present).equals(normal);
  }

  void copyTo(Fields request) {
    request.remove(name);
    if (value != null) {
      request.add(name, value);
    }
  }

  private int indexOf(Fields request, int from) {
    if (known != null) {
      return request.has(known) ? request.indexOf(known, from) : -1;
    }
    for (int i = from; i < request.size(); i++) {
      if (request.nameIs(i, name)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean isValue(Fields request, int index, String value) {
    int start = request.valueStart(index);
    if (request.valueEnd(index) - start != value.length()) {
      return false;
    }
    byte[] octets = request.octets();
    for (int i = 0; i < value.length(); i++) {
      if ((octets[start + i] & 0xff) != value.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable String joined(String name, Fields request) {
    var values = request.all(name);
    return values.isEmpty() ? null : String.join(", ", values);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SelectingField that
        && name.equals(that.name)
        && Objects.equals(normal, that.normal);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, normal);
  }

  @Override
  public String toString() {
    return name + "=" + value;
  }
}
