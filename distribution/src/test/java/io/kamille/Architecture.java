package io.kamille;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import java.util.function.Function;

/** The named nevers of {@code docs/architecture/index.md}; a rule about an empty package holds. */
enum Architecture {
  PACKAGES_FORM_NO_CYCLE(slices().matching("io.kamille.(**)").should().beFreeOfCycles()),

  RULES_SEE_ONLY_HTTP(
      classes()
          .that()
          .resideInAnyPackage("io.kamille.cache.rules..", "io.kamille.cache.key..")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                      "io.kamille.cache.rules..",
                      "io.kamille.cache.key..",
                      "io.kamille.core.http..",
                      "java..",
                      "org.jspecify.annotations..",
                      "com.google.errorprone.annotations..")
                  .and(
                      not(
                          resideInAnyPackage(
                              "java.io..",
                              "java.net..",
                              "java.nio.channels..",
                              "java.nio.file.."))))),

  SERVE_SEES_NO_TIER_FROM_INSIDE(
      noClasses()
          .that()
          .resideInAPackage("io.kamille.cache.serve..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.kamille.cache.memory..", "io.kamille.cache.disk..")),

  CLIENT_SEES_NO_OTHER_STATION(station("client", "route", "origin")),
  ROUTE_SEES_NO_OTHER_STATION(station("route", "client", "origin")),
  ORIGIN_SEES_NO_OTHER_STATION(station("origin", "client", "route")),

  EPOLL_STAYS_WHERE_CHANNELS_ARE_MADE(
      onlyIn(
          "io.netty.channel.epoll..",
          resideInAnyPackage("io.kamille.core.loop..", "io.kamille.core.socket..")
              .or(
                  topLevelName(
                      "core.client.open.Listener*",
                      "io\\.kamille\\.core\\.client\\.open\\.Listener\\w*"))
              .or(
                  topLevelName(
                      "core.origin..*Connector",
                      "io\\.kamille\\.core\\.origin\\.(\\w+\\.)*\\w*Connector")))),

  FOREIGN_MEMORY_STAYS_IN_TWO_PACKAGES(
      onlyIn(
          "java.lang.foreign..",
          resideInAnyPackage("io.kamille.cache.memory..", "io.kamille.core.socket.."))),

  CAFFEINE_STAYS_IN_THE_INDEX(
      onlyIn("com.github.benmanes.caffeine..", resideInAPackage("io.kamille.cache.index.."))),

  PICOCLI_STAYS_ON_THE_COMMAND_LINE(
      onlyIn("picocli..", resideInAPackage("io.kamille.launcher.cli.."))),

  ONE_CLASS_NAMES_THE_CHAIN(
      classes()
          .that(
              dependOn("io.kamille.launcher.chain.CacheStation")
                  .and(dependOn("io.kamille.launcher.chain.RuleStation")))
          .should(
              be(
                  topLevelName(
                      "RouteStations", "io\\.kamille\\.launcher\\.chain\\.RouteStations"))));

  @SuppressWarnings("ImmutableEnumChecker") // an ArchRule never changes, but does not say so
  private final ArchRule rule;

  Architecture(ArchRule rule) {
    this.rule = rule.allowEmptyShould(true);
  }

  ArchRule rule() {
    return rule;
  }

  private static ArchRule station(String station, String... others) {
    return noClasses()
        .that()
        .resideInAPackage(core(station))
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(core(others[0]), core(others[1]));
  }

  private static String core(String concern) {
    return "io.kamille.core." + concern + "..";
  }

  private static ArchRule onlyIn(String library, DescribedPredicate<JavaClass> home) {
    return noClasses().that(not(home)).should().dependOnClassesThat().resideInAPackage(library);
  }

  private static DescribedPredicate<JavaClass> dependOn(String name) {
    return describe(
        "depend on " + name,
        type ->
            type.getDirectDependenciesFromSelf().stream()
                .anyMatch(dependency -> dependency.getTargetClass().getName().equals(name)));
  }

  private static DescribedPredicate<JavaClass> topLevelName(String description, String pattern) {
    Function<JavaClass, String> topLevel = type -> type.getName().replaceFirst("\\$.*", "");
    return describe(description, type -> topLevel.apply(type).matches(pattern));
  }
}
