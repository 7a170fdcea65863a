package io.kamille.launcher.configuration;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.Redirect;
import io.kamille.core.answer.ResponseSettings;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.core.route.Route;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a route does by itself: whom it answers without an upstream, and what it changes on the way.
 *
 * @param root the directory whose files it sends, or null
 * @param redirect where it sends clients
 * @param respond what it answers to all
 * @param pathRewrite what the origin gets in place of the route's path, or null for the same
 * @param requestHeaders what becomes of the fields of requests
 * @param responseHeaders what becomes of the fields of responses
 * @param requestId whether each request gets a name
 * @param securityHeaders whether responses get {@link io.kamille.core.answer.SecurityFields}
 * @param split which clients get another upstream
 * @param mirror which upstream gets copies
 * @param errorPages what stands in place of errors, by status code or class
 * @param redirectsFile which paths have moved, or null
 */
public record RouteActions(
    @Nullable Path root,
    Redirect redirect,
    ResponseSettings respond,
    @Nullable String pathRewrite,
    HeaderRules requestHeaders,
    HeaderRules responseHeaders,
    boolean requestId,
    boolean securityHeaders,
    SplitSettings split,
    MirrorSettings mirror,
    Map<String, ErrorPageSettings> errorPages,
    @Nullable Path redirectsFile) {

  static final Setting<Path> ROOT =
      Setting.of(
              "root",
              ValueTypes.file(),
              "A directory whose files the route sends, in place of `upstream`. The whole path of a"
                  + " request is looked for below it.")
          .orElse("no files");

  static final Subsection<Redirect> REDIRECT =
      Redirect.SECTION
          .one(
              "redirect",
              "Where the route sends its clients, in place of `upstream`. `redirect: URL` is short"
                  + " for `redirect: {to: URL}`.")
          .withShorthand(Redirect.TO);

  static final Subsection<ResponseSettings> RESPOND =
      ResponseSettings.SECTION
          .one(
              "respond",
              "What the route answers by itself, in place of `upstream`. `respond: 404` is short"
                  + " for `respond: {status: 404}`.")
          .withShorthand(ResponseSettings.STATUS);

  static final Setting<String> PATH_REWRITE =
      Setting.of(
              "path-rewrite",
              ValueTypes.text(
                  "path", "a path that begins with /", text -> Route.isPathPrefix(text)),
              "What the origin gets in place of the route's `path`: with `path: /api` and"
                  + " `path-rewrite: /v2`, the request for `/api/users` asks the origin for"
                  + " `/v2/users`. The cache key keeps the path as it came.")
          .orElse("the path as it came");

  static final Subsection<HeaderRules> REQUEST_HEADERS =
      HeaderRules.SECTION.one(
          "request-headers", "What becomes of the header fields of a request before the origin.");

  static final Subsection<HeaderRules> RESPONSE_HEADERS =
      HeaderRules.SECTION.one(
          "response-headers",
          "What becomes of the header fields of a response. After a reload, the rules hold for"
              + " stored responses at once. A line that a removed rule has added stays there until"
              + " the origin sends the response anew.");

  static final Subsection<SplitSettings> SPLIT =
      SplitSettings.SECTION.one(
          "split",
          "Which part of the clients gets another upstream. Its responses are not cached.");

  static final Subsection<MirrorSettings> MIRROR =
      MirrorSettings.SECTION.one("mirror", "Which upstream gets copies of forwarded requests.");

  static final Subsection<ErrorPageSettings> ERROR_PAGES =
      ErrorPageSettings.SECTION
          .named(
              "error-pages",
              "Pages in place of the text of Kamille's own errors, by status code or class. A code"
                  + " wins over its class. `5xx: FILE` is short for `5xx: {file: FILE}`. The status"
                  + " code stays. Calls of gRPC get no page.")
          .withShorthand(ResponseSettings.FILE);

  static final Setting<Path> REDIRECTS_FILE =
      Setting.of(
              "redirects-file",
              ValueTypes.file(),
              "A file of redirects, before the route's own answer: `FROM,TO` or `FROM,TO,STATUS` in"
                  + " each line, at most 100,000. Kamille takes in a change within a second; see"
                  + " [routes](../operations/routes.md#many-redirects).")
          .orElse("no file")
          .into("redirectsFile");

  static final Section<RouteActions> SECTION =
      Section.of(
          RouteActions.class,
          ROOT,
          REDIRECT,
          RESPOND,
          PATH_REWRITE,
          REQUEST_HEADERS,
          RESPONSE_HEADERS,
          Setting.of(
                  "request-id",
                  ValueTypes.onOff(),
                  "Whether each request gets a new `X-Request-Id`, for the origin and in the"
                      + " response.")
              .defaultsTo(false),
          Setting.of(
                  "security-headers",
                  ValueTypes.onOff(),
                  "Whether responses that lack them get `X-Content-Type-Options: nosniff`,"
                      + " `X-Frame-Options: SAMEORIGIN`, `Referrer-Policy:"
                      + " strict-origin-when-cross-origin`, and over https"
                      + " `Strict-Transport-Security: max-age=31536000`. Kamille's own errors on"
                      + " the route get them, too.")
              .defaultsTo(false),
          SPLIT,
          MIRROR,
          ERROR_PAGES,
          REDIRECTS_FILE);

  static final RouteActions NONE = SECTION.defaults();
}
