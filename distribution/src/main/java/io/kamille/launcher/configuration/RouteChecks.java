package io.kamille.launcher.configuration;

import io.kamille.core.answer.ErrorPageSettings;
import io.kamille.core.answer.HeaderRules;
import io.kamille.core.answer.Redirect;
import io.kamille.core.answer.ResponseSettings;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.choose.SplitSettings;
import io.kamille.core.origin.send.MirrorSettings;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What must be true of what a route does by itself. */
final class RouteChecks {

  private final SectionValues route;
  private final Problems problems;

  private RouteChecks(SectionValues route, Problems problems) {
    this.route = route;
    this.problems = problems;
  }

  static void run(SectionValues file, Problems problems) {
    for (SectionValues route : file.all(Configuration.ROUTES)) {
      var checks = new RouteChecks(route, problems);
      checks.itHasOneAnswer(!problems.hasRefused(route.path()));
      checks.partsHaveTheWhole(RouteActions.REDIRECT, Redirect.SECTION, Redirect.TO, "to");
      checks.partsHaveTheWhole(
          RouteActions.RESPOND, ResponseSettings.SECTION, ResponseSettings.STATUS, "status");
      checks.secondUpstreamsDiffer();
      checks.filesCanBeRead();
      checks.errorPagesAreWhole();
      checks.fieldsMayBeChanged(RouteActions.REQUEST_HEADERS);
      checks.fieldsMayBeChanged(RouteActions.RESPONSE_HEADERS);
    }
  }

  /** What was refused may be the answer: without it, two are too many, but none is no fault. */
  private void itHasOneAnswer(boolean isWhole) {
    List<String> answers = new ArrayList<>();
    for (Setting<?> setting : List.of(RouteSettings.UPSTREAM, RouteActions.ROOT)) {
      if (route.find(setting) != null) {
        answers.add(setting.key());
      }
    }
    if (route.one(RouteActions.REDIRECT).find(Redirect.TO) != null) {
      answers.add(RouteActions.REDIRECT.key());
    }
    if (route.one(RouteActions.RESPOND).isGiven(ResponseSettings.STATUS)) {
      answers.add(RouteActions.RESPOND.key());
    }
    if (answers.size() > 1 || (answers.isEmpty() && isWhole)) {
      add(
          route.position(),
          route.path(),
          answers.isEmpty() ? "no answer" : String.join(" and ", answers),
          "one of upstream, root, redirect and respond");
    } else if (isWhole && route.find(RouteSettings.UPSTREAM) == null) {
      itNeedsNothingOfUpstreams(answers.getFirst());
    }
  }

  /** What is for upstreams alone would have no effect. */
  private void itNeedsNothingOfUpstreams(String answer) {
    List<Member> given = new ArrayList<>();
    for (Setting<?> setting :
        List.of(RouteSettings.HOST_REWRITE, RouteSettings.UPGRADES, RouteActions.PATH_REWRITE)) {
      if (route.isGiven(setting)) {
        given.add(setting);
      }
    }
    for (Subsection<?> section :
        List.of(
            RouteSettings.CACHE,
            RouteActions.REQUEST_HEADERS,
            RouteActions.SPLIT,
            RouteActions.MIRROR)) {
      if (!route.all(section).isEmpty()) {
        given.add(section);
      }
    }
    for (Member member : given) {
      add(
          route.position(),
          route.path() + "." + member.key(),
          "beside " + answer,
          "upstream in place of " + answer + ", or no " + member.key());
    }
  }

  private void partsHaveTheWhole(
      Subsection<?> subsection, Section<?> section, Setting<?> whole, String name) {
    for (SectionValues values : route.all(subsection)) {
      if (values.isGiven(whole) || problems.hasRefused(values.path(whole))) {
        continue;
      }
      for (Member member : section.members()) {
        if (member instanceof Setting<?> part && values.isGiven(part)) {
          problems.conflict(
              values, part, Problems.quote(String.valueOf(values.find(part))), name + " beside it");
        }
      }
    }
  }

  /** A split or a mirror says which upstream it is for, and that is not the route's own. */
  private void secondUpstreamsDiffer() {
    partsHaveTheWhole(
        RouteActions.SPLIT, SplitSettings.SECTION, SplitSettings.UPSTREAM, "upstream");
    partsHaveTheWhole(
        RouteActions.MIRROR, MirrorSettings.SECTION, MirrorSettings.UPSTREAM, "upstream");
    String own = route.find(RouteSettings.UPSTREAM);
    differs(route.one(RouteActions.SPLIT), SplitSettings.UPSTREAM, own);
    differs(route.one(RouteActions.MIRROR), MirrorSettings.UPSTREAM, own);
  }

  private void differs(SectionValues section, Setting<String> upstream, @Nullable String own) {
    String other = section.find(upstream);
    if (other != null && other.equals(own)) {
      problems.conflict(section, upstream, "another upstream than the route's own");
    }
  }

  private void filesCanBeRead() {
    Path root = route.find(RouteActions.ROOT);
    if (root != null && !(Files.isDirectory(root) && Files.isReadable(root))) {
      problems.conflict(route, RouteActions.ROOT, "a directory that can be read");
    }
    for (SectionValues respond : route.all(RouteActions.RESPOND)) {
      Integer status = respond.find(ResponseSettings.STATUS);
      boolean hasBody = respond.isGiven(ResponseSettings.BODY);
      boolean hasFile = respond.isGiven(ResponseSettings.FILE);
      if (status != null
          && (hasBody || hasFile)
          && (StatusCode.hasNoContent(status) || status == StatusCode.RESET_CONTENT)) {
        problems.conflict(
            respond,
            ResponseSettings.STATUS,
            status.toString(),
            "no body and no file beside it, because that status has no content");
      } else if (hasBody && hasFile) {
        add(respond.position(), respond.path(), "body and file", "one of them");
      }
      bodyCanBeRead(respond);
    }
  }

  private void bodyCanBeRead(SectionValues response) {
    Path file = response.find(ResponseSettings.FILE);
    try {
      if (file != null) {
        ResponseSettings.read(file);
      }
    } catch (IOException unreadable) {
      problems.conflict(
          response,
          ResponseSettings.FILE,
          "a file of at most 1MiB that can be read (" + unreadable.getMessage() + ")");
    }
  }

  private void errorPagesAreWhole() {
    boolean isUpstreams = route.find(RouteSettings.UPSTREAM) != null;
    for (SectionValues page : route.all(RouteActions.ERROR_PAGES)) {
      bodyCanBeRead(page);
      if (!ErrorPageSettings.isName(page.name())) {
        add(
            page.position(),
            page.path(),
            Problems.quote(page.name()),
            "a status code of 400–599 such as 404, or 4xx or 5xx");
      }
      boolean hasBody = page.isGiven(ResponseSettings.BODY);
      if (hasBody == page.isGiven(ResponseSettings.FILE) && !problems.hasRefused(page.path())) {
        add(
            page.position(),
            page.path(),
            hasBody ? "body and file" : "neither body nor file",
            "one of them");
      }
      if (!isUpstreams && page.value(ErrorPageSettings.INTERCEPT)) {
        problems.conflict(
            page, ErrorPageSettings.INTERCEPT, "on", "off, because the route has no upstream");
      }
    }
  }

  private void fieldsMayBeChanged(Subsection<HeaderRules> direction) {
    for (SectionValues rules : route.all(direction)) {
      for (String name : rules.value(HeaderRules.REMOVE)) {
        mayBeChanged(name, rules.position(HeaderRules.REMOVE), rules.path(HeaderRules.REMOVE));
      }
      for (Subsection<?> kind : List.of(HeaderRules.SET, HeaderRules.ADD)) {
        for (SectionValues field : rules.all(kind)) {
          mayBeChanged(field.name(), field.position(), field.path());
        }
      }
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
    problems.add(Problem.Kind.CONFLICT, position, path, found, expected);
  }
}
