package io.kamille;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The modules keep every rule of {@link Architecture}, and every rule can be broken. */
class ArchitectureTest {

  private static final JavaClasses MODULES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.kamille");

  private static final Pattern TYPE_NAME = Pattern.compile("class (\\w+)");

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource
  void theModulesKeep(Architecture architecture) {
    architecture.rule().check(MODULES);
  }

  @Test
  void theModulesAreAllSeen() {
    assertThat(MODULES.containPackage("io.kamille.core.loop")).isTrue();
  }

  @Test
  void packagesInARingAreACycle() throws IOException {
    assertThat(
            brokenBy(
                "package io.kamille.core.a; public class A { io.kamille.cache.b.B b; }",
                "package io.kamille.cache.b; public class B { io.kamille.core.a.A a; }"))
        .containsExactly(Architecture.PACKAGES_FORM_NO_CYCLE);
  }

  @Test
  void rulesMayNotSeeExchanges() throws IOException {
    assertThat(
            brokenBy(
                "package io.kamille.core.exchange; public class Exchange {}",
                "package io.kamille.cache.rules; class Bad { io.kamille.core.exchange.Exchange e;"
                    + " }"))
        .containsExactly(Architecture.RULES_SEE_ONLY_HTTP);
  }

  @Test
  void rulesMayNotDoInputOrOutput() throws IOException {
    assertThat(brokenBy("package io.kamille.cache.rules; class Bad { java.io.File file; }"))
        .containsExactly(Architecture.RULES_SEE_ONLY_HTTP);
  }

  @Test
  void rulesMaySeeHttp() throws IOException {
    assertThat(
            brokenBy(
                "package io.kamille.core.http; public class Fields {}",
                "package io.kamille.cache.rules; class Good { io.kamille.core.http.Fields f; }"))
        .isEmpty();
  }

  @Test
  void serveMayNotSeeMemoryOrDisk() throws IOException {
    assertThat(
            brokenBy(
                "package io.kamille.cache.memory; public class Arena {}",
                "package io.kamille.cache.serve; class Bad { io.kamille.cache.memory.Arena arena;"
                    + " }"))
        .containsExactly(Architecture.SERVE_SEES_NO_TIER_FROM_INSIDE);
    assertThat(
            brokenBy(
                "package io.kamille.cache.disk; public class Segment {}",
                "package io.kamille.cache.serve; class Bad { io.kamille.cache.disk.Segment s; }"))
        .containsExactly(Architecture.SERVE_SEES_NO_TIER_FROM_INSIDE);
  }

  @Test
  void clientMayNotSeeRouteOrOrigin() throws IOException {
    assertThat(stationsBroken("client.h1", "route"))
        .containsExactly(Architecture.CLIENT_SEES_NO_OTHER_STATION);
    assertThat(stationsBroken("client", "origin.pool"))
        .containsExactly(Architecture.CLIENT_SEES_NO_OTHER_STATION);
  }

  @Test
  void routeMayNotSeeClientOrOrigin() throws IOException {
    assertThat(stationsBroken("route", "client"))
        .containsExactly(Architecture.ROUTE_SEES_NO_OTHER_STATION);
    assertThat(stationsBroken("route", "origin"))
        .containsExactly(Architecture.ROUTE_SEES_NO_OTHER_STATION);
  }

  @Test
  void originMayNotSeeClientOrRoute() throws IOException {
    assertThat(stationsBroken("origin.wire.h1", "client.h1"))
        .containsExactly(Architecture.ORIGIN_SEES_NO_OTHER_STATION);
    assertThat(stationsBroken("origin", "route"))
        .containsExactly(Architecture.ORIGIN_SEES_NO_OTHER_STATION);
  }

  @Test
  void epollIsForLoopsSocketsAndBootstrap() throws IOException {
    String epoll = "{ io.netty.channel.epoll.EpollSocketChannel channel; }";
    assertThat(brokenBy("package io.kamille.core.client.open; class Drain " + epoll))
        .containsExactly(Architecture.EPOLL_STAYS_WHERE_CHANNELS_ARE_MADE);
    assertThat(brokenBy("package io.kamille.core.origin.pool; class Pool " + epoll))
        .containsExactly(Architecture.EPOLL_STAYS_WHERE_CHANNELS_ARE_MADE);
    assertThat(
            brokenBy(
                "package io.kamille.core.loop; class LoopGroup " + epoll,
                "package io.kamille.core.socket; class Sampler " + epoll,
                "package io.kamille.core.client.open; class ListenerBootstrap { class Inner "
                    + epoll
                    + " }",
                "package io.kamille.core.origin.pool; class OriginConnector " + epoll))
        .isEmpty();
  }

  @Test
  void foreignMemoryIsForTheArenaAndSockets() throws IOException {
    String foreign = "{ java.lang.foreign.MemorySegment memory; }";
    assertThat(brokenBy("package io.kamille.cache.store; class Bad " + foreign))
        .containsExactly(Architecture.FOREIGN_MEMORY_STAYS_IN_TWO_PACKAGES);
    assertThat(
            brokenBy(
                "package io.kamille.cache.memory; class Arena " + foreign,
                "package io.kamille.core.socket; class Options " + foreign))
        .isEmpty();
  }

  @Test
  void caffeineIsForTheIndex() throws IOException {
    String caffeine = "{ com.github.benmanes.caffeine.cache.Cache<String, String> cache; }";
    assertThat(brokenBy("package io.kamille.cache.tiers; class Bad " + caffeine))
        .containsExactly(Architecture.CAFFEINE_STAYS_IN_THE_INDEX);
    assertThat(brokenBy("package io.kamille.cache.index; class MemoryIndex " + caffeine)).isEmpty();
  }

  @Test
  void picocliIsForTheCommandLine() throws IOException {
    String picocli = "{ picocli.CommandLine commandLine; }";
    assertThat(brokenBy("package io.kamille.launcher.appliance; class Bad " + picocli))
        .containsExactly(Architecture.PICOCLI_STAYS_ON_THE_COMMAND_LINE);
    assertThat(brokenBy("package io.kamille.launcher.cli; class RunCommand " + picocli)).isEmpty();
  }

  @Test
  void theChainIsNamedOnce() throws IOException {
    String cache = "package io.kamille.launcher.chain; class CacheStation {}";
    String rules = "package io.kamille.launcher.chain; class RuleStation {}";
    String both = "{ CacheStation c; RuleStation r; }";
    assertThat(brokenBy(cache, rules, "package io.kamille.launcher.chain; class Bad " + both))
        .containsExactly(Architecture.ONE_CLASS_NAMES_THE_CHAIN);
    assertThat(
            brokenBy(
                cache, rules, "package io.kamille.launcher.chain; class RouteStations " + both))
        .isEmpty();
  }

  private EnumSet<Architecture> stationsBroken(String from, String to) throws IOException {
    return brokenBy(
        "package io.kamille.core." + to + "; public class Other {}",
        "package io.kamille.core." + from + "; class Bad { io.kamille.core." + to + ".Other o; }");
  }

  private EnumSet<Architecture> brokenBy(String... sources) throws IOException {
    JavaClasses compiled = new ClassFileImporter().importPath(compile(sources));
    var broken = EnumSet.noneOf(Architecture.class);
    for (Architecture architecture : Architecture.values()) {
      if (architecture.rule().evaluate(compiled).hasViolation()) {
        broken.add(architecture);
      }
    }
    return broken;
  }

  private Path compile(String... sources) throws IOException {
    Path output = Files.createTempDirectory(directory, "classes");
    List<String> arguments = new ArrayList<>(List.of("-proc:none", "-d", output.toString()));
    for (String source : sources) {
      arguments.add(write(source).toString());
    }
    var messages = new ByteArrayOutputStream();
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, messages, messages, arguments.toArray(String[]::new));
    assertThat(status).as(messages.toString(StandardCharsets.UTF_8)).isZero();
    return output;
  }

  private Path write(String source) throws IOException {
    Matcher type = TYPE_NAME.matcher(source);
    assertThat(type.find()).isTrue();
    Path file = Files.createTempDirectory(directory, "source").resolve(type.group(1) + ".java");
    return Files.writeString(file, source);
  }
}
