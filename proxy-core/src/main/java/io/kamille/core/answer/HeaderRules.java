package io.kamille.core.answer;

import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.setting.SecretText;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is done with the header fields of a message: first fields go, then others are set.
 *
 * @param remove names of fields that go
 * @param set fields that stand there instead of all others of their name
 * @param add fields that stand there besides
 */
public record HeaderRules(
    List<String> remove, Map<String, FieldValue> set, Map<String, FieldValue> add) {

  /** The value of a field. */
  public record FieldValue(SecretText text) {

    public static final Setting<SecretText> VALUE =
        Setting.of(
                "value",
                SecretText.type(
                    "text",
                    "visible ASCII, spaces and tabs, not at either end",
                    FieldValue::isValue),
                "The value of the field. `${file:PATH}` in it stands for the content of a file, such"
                    + " as a token, which Kamille reads when it reads the configuration.")
            .into("text");

    public static final Section<FieldValue> SECTION = Section.of(FieldValue.class, VALUE);

    /** As it goes into a message. */
    public String value() {
      return text.value();
    }

    private FieldValue asWritten() {
      return new FieldValue(new SecretText(text.written(), text.written(), null));
    }

    private static boolean isValue(String text) {
      return text.equals(text.strip())
          && text.chars().allMatch(c -> c == '\t' || (c >= ' ' && c <= '~'));
    }
  }

  public static final Setting<List<String>> REMOVE =
      Setting.of("remove", ValueTypes.fieldNames(), "The names of fields to remove.")
          .defaultsTo(List.of());

  public static final Subsection<FieldValue> SET =
      FieldValue.SECTION
          .named("set", "Fields by name, in place of all others of that name.")
          .withShorthand(FieldValue.VALUE);

  public static final Subsection<FieldValue> ADD =
      FieldValue.SECTION
          .named("add", "Fields by name, besides others of that name.")
          .withShorthand(FieldValue.VALUE);

  /** The settings of a route about one direction. */
  public static final Section<HeaderRules> SECTION =
      Section.of(HeaderRules.class, REMOVE, SET, ADD);

  public static final HeaderRules NONE = SECTION.defaults();

  /** Names that frame messages or belong to a connection: they are not the operator's to change. */
  private static final String[] FRAMING = {
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade"
  };

  /** Whether a rule may name the field: a token that frames nothing. */
  public static boolean mayChange(String name) {
    return Octets.isToken(name) && Arrays.stream(FRAMING).noneMatch(name::equalsIgnoreCase);
  }

  public boolean isEmpty() {
    return remove.isEmpty() && set.isEmpty() && add.isEmpty();
  }

  /** The same with the names of files in place of what they have. */
  public HeaderRules asWritten() {
    return new HeaderRules(remove, asWritten(set), asWritten(add));
  }

  private static Map<String, FieldValue> asWritten(Map<String, FieldValue> fields) {
    Map<String, FieldValue> written = new LinkedHashMap<>();
    fields.forEach((name, field) -> written.put(name, field.asWritten()));
    return written;
  }

  void apply(Fields fields) {
    change(fields);
    add.forEach((name, field) -> fields.add(name, field.value()));
  }

  /**
   * As {@link #apply}, to the fields of a 304. A field that it lacks stays as it is stored, with
   * what was added to it then (RFC 9111 §3.2).
   */
  void applyToUpdate(Fields fields) {
    change(fields);
    add.forEach(
        (name, field) -> {
          if (!fields.all(name).isEmpty()) {
            fields.add(name, field.value());
          }
        });
  }

  private void change(Fields fields) {
    for (String name : remove) {
      fields.remove(name);
    }
    set.forEach(
        (name, field) -> {
          fields.remove(name);
          fields.add(name, field.value());
        });
  }
}
