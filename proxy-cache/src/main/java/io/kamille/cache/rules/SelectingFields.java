package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The request fields that a response was chosen by, as its {@code Vary} names them, with the values
 * they had (RFC 9111 §4.1). Immutable; any thread.
 */
public final class SelectingFields {

  /**
   * How many names {@code Vary} may have; a response with more is stored for nobody. Each is
   * compared on every hit, and kept on the heap with the value it had.
   */
  static final int LIMIT = 32;

  private static final int FIELD_HEAP_BYTES = 128;

  /** What a response without {@code Vary} has: every request matches. */
  public static final SelectingFields NONE = new SelectingFields(List.of(), false);

  private static final SelectingFields ALL = new SelectingFields(List.of(), true);

  private final SelectingField[] fields;
  private final boolean isAll;

  private SelectingFields(List<SelectingField> fields, boolean isAll) {
    this.fields = fields.toArray(SelectingField[]::new);
    this.isAll = isAll;
  }

  /**
   * The selecting fields of this response, with their values in this request, or the normal forms
   * that a route has of them.
   */
  public static SelectingFields of(Fields response, RequestHead request, VaryBy varyBy) {
    if (!response.has(FieldName.VARY)) {
      return NONE;
    }
    if (isAll(response)) {
      return ALL;
    }
    Set<SelectingField> fields = new LinkedHashSet<>();
    for (String name : VaryField.names(response)) {
      List<NormalForm> forms = varyBy.formsOf(name);
      if (forms.isEmpty()) {
        fields.add(SelectingField.of(name, request.fields()));
      }
      forms.forEach(form -> fields.add(SelectingField.of(form, request.fields())));
    }
    return new SelectingFields(List.copyOf(fields), false);
  }

  /**
   * Those that were kept.
   *
   * @param names as {@link #names} gave them, or {@code *}
   * @param values as {@link #values} gave them, or those that are not null
   */
  public static SelectingFields kept(List<String> names, Map<String, @Nullable String> values) {
    return names.equals(List.of("*"))
        ? ALL
        : new SelectingFields(
            names.stream().map(name -> SelectingField.kept(name, values.get(name))).toList(),
            false);
  }

  /** Whether {@code Vary} says that no request can be known to match. */
  static boolean isAll(Fields response) {
    if (!response.has(FieldName.VARY)) {
      return false;
    }
    Set<String> names = VaryField.names(response);
    return names.size() > LIMIT || names.stream().anyMatch(name -> !VaryField.canMatch(name));
  }

  /** About how many bytes of heap they take. */
  public long heapBytes() {
    long sum = 0;
    for (SelectingField field : fields) {
      sum += FIELD_HEAP_BYTES + field.name().length() + lengthOf(field.value());
      sum += lengthOf(field.normal());
    }
    return sum;
  }

  private static int lengthOf(@Nullable String text) {
    return text == null ? 0 : text.length();
  }

  /** Whether that field is among them. */
  public boolean has(FieldName name) {
    return Stream.of(fields).anyMatch(field -> field.known() == name);
  }

  /** These without one, because the requests that were forwarded never differ in it. */
  public SelectingFields without(FieldName name) {
    List<SelectingField> others = Stream.of(fields).filter(field -> field.known() != name).toList();
    return others.isEmpty() && !isAll ? NONE : new SelectingFields(others, isAll);
  }

  /** Whether the request's selecting fields match those of the request that was answered. */
  public boolean matches(RequestHead request) {
    return mismatch(request) == null;
  }

  /** The first field, or {@code *}, that keeps the request from matching; null if it matches. */
  public @Nullable String mismatch(RequestHead request) {
    for (SelectingField field : fields) {
      if (!field.matches(request.fields())) {
        return field.name();
      }
    }
    return isAll ? "*" : null;
  }

  /** The same fields with the values that they have in that request. */
  public SelectingFields in(RequestHead request) {
    return isEmpty()
        ? this
        : new SelectingFields(
            Stream.of(fields).map(field -> field.in(request.fields())).toList(), isAll);
  }

  /** What one of these, by its name, is in a request; null if it has none. */
  public @Nullable String valueIn(RequestHead request, String name) {
    for (SelectingField field : fields) {
      if (field.name().equals(name)) {
        return field.valueIn(request.fields());
      }
    }
    return null;
  }

  /** Whether there are none, so that nothing need be compared. */
  public boolean isEmpty() {
    return fields.length == 0 && !isAll;
  }

  /** The field names, in lower case. */
  public List<String> names() {
    return List.of(fields).stream().map(SelectingField::name).toList();
  }

  /** What each field had in the request that was answered; null where it had none. */
  public Map<String, @Nullable String> values() {
    Map<String, @Nullable String> values = new LinkedHashMap<>();
    for (SelectingField field : fields) {
      values.put(field.name(), field.value());
    }
    return values;
  }

  /** Gives the request the selecting fields, and so makes it one for this response (§4.3.1). */
  public void copyTo(Fields request) {
    for (SelectingField field : fields) {
      field.copyTo(request);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SelectingFields that
        && isAll == that.isAll
        && List.of(fields).equals(List.of(that.fields));
  }

  @Override
  public int hashCode() {
    return List.of(fields).hashCode();
  }

  @Override
  public String toString() {
    return isAll ? "*" : List.of(fields).toString();
  }
}
