package io.kamille.core.auth;

import io.kamille.core.http.Octets;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The verdict of an auth server.
 *
 * @param upstream of the auth server; null for none
 * @param path that it is asked for, with a query if there is one
 * @param requestFields names of fields of the client's that it sees
 * @param responseFields names of fields of its answer that the origin sees
 */
public record ForwardAuthSettings(
    @Nullable String upstream,
    String path,
    List<String> requestFields,
    List<String> responseFields) {

  /** How names of fields begin that say what we saw. */
  private static final String OURS = "x-forwarded-";

  public static final Setting<String> UPSTREAM =
      Setting.of(
          "upstream",
          ValueTypes.upstream(),
          "The upstream of the auth server. It gets a GET for each request, unless Kamille keeps"
              + " its last answer by `Cache-Control`. A 2xx response lets the request pass. The client"
              + " gets any other response.");

  public static final Setting<List<String>> REQUEST_FIELDS =
      Setting.of(
              "request-fields",
              ValueTypes.list(
                  "list of field names",
                  name ->
                      Octets.isToken(name) && !name.regionMatches(true, 0, OURS, 0, OURS.length()),
                  "a field name that does not begin with X-Forwarded-"),
              "Request fields that the auth server sees. Kamille adds `X-Forwarded-Method`,"
                  + " `-Proto`, `-Host`, `-Uri` and `-For`.")
          .defaultsTo(List.of("Authorization", "Cookie"));

  public static final Setting<List<String>> RESPONSE_FIELDS =
      Setting.of(
              "response-fields",
              ValueTypes.fieldNames(),
              "Fields of the auth server's 2xx response that the origin sees. Kamille removes"
                  + " fields with these names from the client's request.")
          .defaultsTo(List.of());

  static final Section<ForwardAuthSettings> SECTION =
      Section.of(
          ForwardAuthSettings.class,
          UPSTREAM,
          Setting.of(
                  "path",
                  ValueTypes.text(
                      "path",
                      "a path that begins with /, with or without a query",
                      text -> text.matches("/[!-~&&[^#]]{0,1023}")),
                  "The path that the auth server is asked for.")
              .defaultsTo("/"),
          REQUEST_FIELDS,
          RESPONSE_FIELDS);
}
