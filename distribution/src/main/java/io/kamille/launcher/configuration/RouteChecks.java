package io.kamille.launcher.configuration;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.HeaderRules.FieldValue;
import io.kamille.core.answer.Redirect;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.answer.ResponseSettings;
import io.kamille.core.auth.AuthSettings;
import io.kamille.core.auth.ForwardAuthSettings;
import io.kamille.core.auth.JwtSettings;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SecretText;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What must be true of what a route does by itself. */
record RouteChecks(SectionValues route, Problems problems) {

  void run() {
    itHasOneAnswer(!problems.hasRefused(route.path()));
    isOfAnotherUpstream(route.one(RouteActions.SPLIT), SplitSettings.UPSTREAM);
    isOfAnotherUpstream(route.one(RouteActions.MIRROR), MirrorSettings.UPSTREAM);
    Path root = route.find(RouteActions.ROOT);
    if (root != null
        && problems.readsFiles()
        && !(Files.isDirectory(root) && Files.isReadable(root))) {
      problems.conflict(route, RouteActions.ROOT, "a directory that can be read");
    }
    route.all(RouteActions.ERROR_PAGES).forEach(this::errorPageIsWhole);
    problems.readable(
        route,
        RouteActions.REDIRECTS_FILE,
        "a file of redirects",
        file -> RedirectTable.read(file, problems));
    route.all(RouteSettings.AUTH).forEach(this::identityMayBeWritten);
    fieldsMayBeChanged(RouteActions.REQUEST_HEADERS);
    fieldsMayBeChanged(RouteActions.RESPONSE_HEADERS);
  }

  /** What was refused may be the answer: without it, two are too many, but none is no fault. */
  private void itHasOneAnswer(boolean isWhole) {
    List<String> answers =
        Stream.of(
                RouteSettings.UPSTREAM,
                RouteActions.ROOT,
                RouteActions.REDIRECT,
                RouteActions.RESPOND)
            .filter(this::isAnswer)
            .map(Member::key)
            .toList();
    if (answers.size() > 1 || (answers.isEmpty() && isWhole)) {
      problems.conflict(
          route,
          answers.isEmpty() ? "no answer" : String.join(" and ", answers),
          "one of upstream, root, redirect and respond");
    } else if (isWhole && !route.isGiven(RouteSettings.UPSTREAM)) {
      itNeedsNothingOfUpstreams(answers.getFirst());
    }
  }

  private boolean isAnswer(Member member) {
    if (member instanceof Setting<?> setting) {
      return route.isGiven(setting);
    }
    return member.equals(RouteActions.REDIRECT)
        ? route.one(RouteActions.REDIRECT).isGiven(Redirect.TO)
        : route.one(RouteActions.RESPOND).isGiven(ResponseSettings.STATUS);
  }

  /** What is for upstreams alone would have no effect. */
  private void itNeedsNothingOfUpstreams(String answer) {
    List<Member> ofUpstreams =
        List.of(
            RouteSettings.HOST_REWRITE,
            RouteSettings.UPGRADES,
            RouteActions.PATH_REWRITE,
            RouteSettings.CACHE,
            RouteLimits.HEAD_TIMEOUT,
            RouteLimits.CONTENT_TIMEOUT,
            RouteActions.REQUEST_HEADERS,
            RouteActions.SPLIT,
            RouteActions.MIRROR);
    for (Member member : ofUpstreams) {
      boolean isGiven =
          switch (member) {
            case Setting<?> setting -> route.isGiven(setting);
            case Subsection<?> section -> !route.all(section).isEmpty();
          };
      if (isGiven) {
        add(
            route.position(),
            route.path(member),
            "beside " + answer,
            "upstream in place of " + answer + ", or no " + member.key());
      }
    }
  }

  /** A split or a mirror is for another upstream than the route's own. */
  private void isOfAnotherUpstream(SectionValues section, Setting<String> upstream) {
    String other = section.find(upstream);
    if (other != null && other.equals(route.find(RouteSettings.UPSTREAM))) {
      problems.conflict(section, upstream, "another upstream than the route's own");
    }
  }

  private void errorPageIsWhole(SectionValues page) {
    if (!ErrorPageSettings.isName(page.name())) {
      problems.conflict(
          page, Problems.quote(page.name()), "a status code of 400–599 such as 404, or 4xx or 5xx");
    }
    boolean hasBody = page.isGiven(ResponseSettings.BODY);
    if (hasBody == page.isGiven(ResponseSettings.FILE) && !problems.hasRefused(page.path())) {
      problems.conflict(page, hasBody ? "body and file" : "neither body nor file", "one of them");
    }
    if (!route.isGiven(RouteSettings.UPSTREAM) && page.value(ErrorPageSettings.INTERCEPT)) {
      problems.conflict(
          page, ErrorPageSettings.INTERCEPT, "on", "off, because the route has no upstream");
    }
  }

  private void identityMayBeWritten(SectionValues auth) {
    for (SectionValues field : auth.one(AuthSettings.JWT).all(JwtSettings.FIELDS)) {
      mayBeChanged(field.name(), field.position(), field.path());
    }
    SectionValues forward = auth.one(AuthSettings.FORWARD);
    for (Setting<List<String>> names :
        List.of(ForwardAuthSettings.REQUEST_FIELDS, ForwardAuthSettings.RESPONSE_FIELDS)) {
      forward
          .value(names)
          .forEach(name -> mayBeChanged(name, forward.position(names), forward.path(names)));
    }
  }

  private void fieldsMayBeChanged(Subsection<HeaderRules> direction) {
    boolean isOfResponses = direction.equals(RouteActions.RESPONSE_HEADERS);
    for (SectionValues rules : route.all(direction)) {
      if (direction.equals(RouteActions.REQUEST_HEADERS)) {
        viaIsOurs(rules);
      }
      for (String name : rules.value(HeaderRules.REMOVE)) {
        Position position = rules.position(HeaderRules.REMOVE);
        mayBeChanged(name, position, rules.path(HeaderRules.REMOVE));
        isNotOurs(isOfResponses, name, position, rules.path(HeaderRules.REMOVE));
      }
      for (Subsection<?> kind : List.of(HeaderRules.SET, HeaderRules.ADD)) {
        for (SectionValues field : rules.all(kind)) {
          mayBeChanged(field.name(), field.position(), field.path());
          isNotOurs(isOfResponses, field.name(), field.position(), field.path());
          SecretText text = field.find(FieldValue.VALUE);
          String trouble = text == null ? null : text.trouble();
          if (trouble != null && problems.readsFiles()) {
            problems.conflict(field, FieldValue.VALUE, trouble);
          }
        }
      }
    }
  }

  /** Else a loop of proxies would have no end (RFC 9110 §7.6.3). */
  private void viaIsOurs(SectionValues rules) {
    List<String> names = new ArrayList<>(rules.value(HeaderRules.REMOVE));
    for (Subsection<?> kind : List.of(HeaderRules.SET, HeaderRules.ADD)) {
      rules.all(kind).forEach(field -> names.add(field.name()));
    }
    if (names.stream().anyMatch("Via"::equalsIgnoreCase)) {
      problems.conflict(rules, "Via", "other names, because Kamille writes Via itself");
    }
  }

  /** Rules act on what comes from the origin; these fields are made for each client anew. */
  private void isNotOurs(boolean isOfResponses, String name, Position position, String path) {
    if (isOfResponses && (name.equalsIgnoreCase("Age") || name.equalsIgnoreCase("Date"))) {
      String expected = "another field: Kamille adds Age and Date to each response itself";
      add(position, path, Problems.quote(name), expected);
    }
  }

  private void mayBeChanged(String name, Position position, String path) {
    if (!HeaderRules.mayChange(name)) {
      add(
          position,
          path,
          Problems.quote(name),
          "the name of a field that neither frames messages nor is Host (host-rewrite)");
    }
  }

  private void add(Position position, String path, String found, String expected) {
    problems.add(Problem.Mistake.CONFLICT, position, path, found, expected);
  }
}
