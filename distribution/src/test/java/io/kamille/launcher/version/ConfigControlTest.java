package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.kamille.admin.api.AdminRequest;
import io.kamille.admin.api.InvalidRequest;
import io.kamille.admin.api.ProblemType;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.Peer;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.chain.RequestTests;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigControlTest {

  private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
  private static final String LEAST =
      """
      # why this is here
      listeners: ["127.0.0.1:8080"]
      upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
      routes: [{upstream: web}]
      """;
  private static final String OTHER = LEAST + "limits: {head-size: 50KiB}\n";
  private static final String RESTART = LEAST + "loops: 7\n";

  @TempDir private Path directory;
  private final Appliance appliance = new Appliance();
  private final Histogram durations =
      new MetricRegistry()
          .histogram(MetricDescriptor.histogram("kamille_request_duration_seconds", "Durations."));
  private @Nullable Runnable alarm;
  private Path file;
  private Instant now = NOW;
  private ConfigControl control;

  /** What happens meanwhile. */
  private interface Event {
    void happen() throws IOException;
  }

  /** What stands in for the running appliance. */
  private static final class Appliance implements ConfigControl.Target {
    Configuration running = configuration(LEAST);
    boolean fails;
    Event whenApplied = () -> {};
    TrialGuard.Counts counts = TrialGuard.Counts.NONE;
    final List<String> steps = new ArrayList<>();
    int refusals;

    @Override
    public void refused() {
      refusals++;
    }

    @Override
    public TrialGuard.Counts counts() {
      return counts;
    }

    @Override
    public List<SettingChange> changes(Configuration next) {
      return next.changesFrom(running);
    }

    @Override
    public List<Problem> failedTests(Configuration next, String file) {
      return RequestTests.failed(next, file);
    }

    @Override
    public ConfigControl.Step prepare(Configuration next) {
      if (fails) {
        throw new IllegalStateException("on purpose");
      }
      steps.add("prepare");
      return new ConfigControl.Step() {
        @Override
        public void apply() {
          steps.add("apply");
          running = next.reloadedOver(running);
          Event event = whenApplied;
          whenApplied = () -> {};
          try {
            event.happen();
          } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
          }
        }

        @Override
        public void abandon() {
          steps.add("abandon");
        }
      };
    }
  }

  private static Configuration configuration(String text) {
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(StandardCharsets.UTF_8));
    return ((ConfigurationReading.Accepted) reading).configuration();
  }

  @BeforeEach
  void open() throws IOException {
    file = Files.writeString(directory.resolve("kamille.yaml"), LEAST);
    control = opened(true);
  }

  private ConfigControl opened(boolean mayWrite) throws IOException {
    return opened(
        file,
        mayWrite,
        appliance,
        (after, action) -> {
          alarm = action;
          return () -> alarm = null;
        },
        () -> now);
  }

  /** Control of what runs by that file, with versions beside it. */
  static ConfigControl opened(
      Path file,
      boolean mayWrite,
      ConfigControl.Target target,
      ConfigControl.Alarm alarm,
      InstantSource clock)
      throws IOException {
    var read = (ConfigurationReading.Accepted) ConfigurationFile.read(file);
    return new ConfigControl(
        file,
        Files.readString(file),
        read.configuration(),
        file.resolveSibling("config"),
        mayWrite,
        target,
        alarm,
        clock);
  }

  private int headKibibytes() {
    return appliance.running.limits().connection().head().headBytes() >> 10;
  }

  private ConfigControl.Outcome commit(
      String next, String by, String comment, @Nullable Duration confirm) throws Refused {
    return control.commit(new ChangeOrder(by, comment, null, confirm, null), next);
  }

  private void refused(ProblemType type, Change change) {
    assertThatThrownBy(change::make)
        .isInstanceOfSatisfying(Refused.class, it -> assertThat(it.type()).isEqualTo(type));
  }

  private interface Change {
    void make() throws Refused;
  }

  @Test
  void aReloadThatCannotBePutInForceIsNotAnsweredAsDone() {
    appliance.fails = true;
    assertThat(control.reload()).containsExactly("Nothing was changed; the log says why.");
    refused(ProblemType.NOT_PREPARED, () -> control.reload(control.tag()));
    assertThat(appliance.refusals).isEqualTo(2);
  }

  @Test
  void aChangeThatFailsItsTestsIsRefusedWhicheverWayItComes() throws Exception {
    String good = LEAST + "tests: [{request: 'http://a.org/', expect: {upstream: web}}]\n";
    String bad = good.replace("expect: {upstream: web}", "expect: {cache: bypass}");
    refused(ProblemType.CONFIG_INVALID, () -> commit(bad, "a", "", null));
    refused(ProblemType.CONFIG_INVALID, () -> commit(bad, "a", "", Duration.ofMinutes(1)));
    assertThat(control.problems(bad)).hasSize(1);
    Files.writeString(file, bad);
    assertThat(control.reload())
        .singleElement(STRING)
        .contains("kamille.yaml:5:52: tests[0].expect.cache: found lookup (route: it takes");
    assertThat(appliance.refusals).as("reloads, not commits").isEqualTo(1);
    assertThat(appliance.steps).isEmpty();
    Files.writeString(file, LEAST);
    commit(good, "a", "", null);
    assertThat(file).hasContent(good);
  }

  @Test
  void aTrialThatCannotBeEndedIsTriedAgain() throws Exception {
    commit(OTHER, "a", "", Duration.ofMinutes(1));
    now = now.plusSeconds(60);
    appliance.fails = true;
    Runnable first = Objects.requireNonNull(alarm);
    alarm = null;
    first.run();
    assertThat(headKibibytes()).isEqualTo(50);
    appliance.fails = false;
    Objects.requireNonNull(alarm).run();
    assertThat(headKibibytes()).isNotEqualTo(50);
    refused(ProblemType.NO_TRIAL, () -> control.revertTrial(null));
  }

  @Test
  void aCommentOf500CharactersIsKeptAndALongerOneIsRefused() throws Exception {
    for (String beyond : List.of("x".repeat(501), "€".repeat(100_000), "two\nlines")) {
      assertThatThrownBy(() -> control.commit(commented(beyond), OTHER))
          .isInstanceOf(InvalidRequest.class)
          .hasMessage("A comment is one line of at most 500 characters.");
      assertThat(control.versions()).hasSize(1);
    }
    String longest = "€".repeat(499) + "\"";
    control.commit(commented(longest), OTHER);
    assertThat(opened(true).versions())
        .extracting(ConfigVersion::comment)
        .first()
        .isEqualTo(longest);
    assertThat(file).hasContent(OTHER);
  }

  private ChangeOrder commented(String comment) throws InvalidRequest {
    return ChangeOrder.of(
        new AdminRequest(
            "PUT",
            "/v1/config",
            null,
            List.of(),
            new DefaultHttpHeaders().set("If-Match", control.tag()),
            new byte[0],
            new Peer.LocalSocket(),
            Map.of(),
            Identity.local()),
        comment,
        null,
        null,
        null);
  }

  // Included files

  private static final String INCLUDING = "include: [sites/*.yaml]\n" + LEAST;
  private static final String SHOP =
      """
      upstreams: {shop: {origins: ['http://127.0.0.1:9001']}}
      routes: [{host: shop.test, upstream: shop}]
      """;

  private Path included() throws IOException {
    Path shop = Files.createDirectories(directory.resolve("sites")).resolve("shop.yaml");
    Files.writeString(shop, SHOP);
    Files.writeString(file, INCLUDING);
    assertThat(control.reload()).isEmpty();
    assertThat(appliance.running.upstreams()).containsOnlyKeys("web", "shop");
    return shop;
  }

  @Test
  void aReloadTakesInWhatChangedInIncludedFilesAndACommitDoesNot() throws Exception {
    Path shop = included();
    Files.writeString(shop, SHOP.replace("shop.test", "other.test"));
    refused(ProblemType.FILE_CHANGED, () -> commit(INCLUDING + "loops: 7\n", "a", "", null));
    assertThat(appliance.running.routes().getLast().host()).isEqualTo("shop.test");
    assertThat(control.reload("*").changes())
        .extracting(SettingChange::toString)
        .containsExactly("routes[1].host: shop.test → other.test");
    assertThat(appliance.running.routes().getLast().host()).isEqualTo("other.test");
    Files.delete(shop);
    refused(ProblemType.FILE_CHANGED, () -> commit(INCLUDING + "loops: 7\n", "a", "", null));
    assertThat(control.reload()).isEmpty();
    assertThat(appliance.running.upstreams()).containsOnlyKeys("web");
    commit(OTHER, "a", "", null);
    assertThat(file).hasContent(OTHER);
  }

  @Test
  void aTrialGoesBackToWhatRanWhateverBecameOfIncludedFiles() throws Exception {
    Path shop = included();
    commit(INCLUDING + "limits: {head-size: 50KiB}\n", "a", "", Duration.ofMinutes(1));
    Files.writeString(shop, "broken: [");
    control.revertTrial(null);
    assertThat(headKibibytes()).isNotEqualTo(50);
    assertThat(appliance.running.upstreams()).containsOnlyKeys("web", "shop");
    assertThat(control.reload()).singleElement().asString().startsWith(shop + ":1:10: ");
    assertThat(appliance.running.upstreams()).containsOnlyKeys("web", "shop");
  }

  @Test
  void aTrialIsNotKeptIfAFileThatItIncludesHasChanged() throws Exception {
    Path shop = Files.createDirectories(directory.resolve("sites")).resolve("shop.yaml");
    Files.writeString(shop, SHOP);
    commit(INCLUDING, "a", "", Duration.ofMinutes(1));
    Files.writeString(shop, "broken: [");
    refused(ProblemType.FILE_CHANGED, () -> control.keepTrial(null));
    assertThat(file).hasContent(LEAST);
    Files.writeString(shop, SHOP);
    control.keepTrial(null);
    assertThat(file).hasContent(INCLUDING);
  }

  @Test
  void aNewSecretIsNoChangeOfAnIncludedFile() throws Exception {
    Path token = Files.writeString(directory.resolve("token"), "old");
    Path shop = included();
    Files.writeString(
        shop,
        SHOP.replace(
            "upstream: shop", "upstream: shop, request-headers: {set: {X-A: '${file:token}'}}"));
    assertThat(control.reload()).isEmpty();
    Files.writeString(token, "new");
    commit(INCLUDING + "limits: {head-size: 50KiB}\n", "a", "", null);
    assertThat(appliance.running.routes().getLast().actions().requestHeaders().set().get("X-A"))
        .hasFieldOrPropertyWithValue("text.value", "new");
  }

  @Test
  void whatAnIncludedFileHasIsNotMadeASecondTime() throws Exception {
    Path shop = included();
    assertThatThrownBy(() -> commit(INCLUDING.replace("web", "shop"), "a", "", null))
        .isInstanceOfSatisfying(
            Refused.class,
            it ->
                assertThat(it.problems())
                    .extracting(Problem::toString)
                    .anyMatch(line -> line.startsWith(shop + ":1:13: upstreams.shop: found the")));
  }

  @Test
  void noFileIsShownToWhoMayOnlyValidate() throws IOException {
    Path named = directory.resolve("named.yaml");
    for (String content :
        List.of(
            "s3cret",
            "/s3cret,/s3cret,999",
            "anna:s3cret",
            "{\"keys\": [{\"kty\": \"s3cret\"}]}",
            "-----BEGIN CERTIFICATE-----\ns3cret\n-----END CERTIFICATE-----",
            "-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----",
            "s3cret: 1",
            "*s3cret",
            "!s3cret x",
            "- s3cret\ns3cret",
            "routes: s3cret",
            "routes: [{s3cret: s3cret}, {host: /s3cret, upstream: s3cret}]",
            "upstreams: {web: {s3cret: 1}, /s3cret: s3cret}",
            "tests: [{request: http://s3cret/, expect: {path: /s3cret}}]")) {
      Files.writeString(named, content + "\n");
      for (String naming :
          List.of(
              "include: [named.yaml]",
              "host-sockets: FILE",
              "listeners: [{address: ':0', tls: {certificates: [{chain: FILE, key: FILE}]}}]",
              "listeners: [{address: ':0', tls: {client-authorities: FILE}}]",
              "routes: [{upstream: web, redirects-file: FILE}]",
              "routes: [{upstream: web, auth: {basic: {users-file: FILE}}}]",
              "routes: [{upstream: web, auth: {jwt: {keys: FILE, issuer: a}}}]",
              "routes: [{upstream: web, request-headers: {set: {X-A: '${file:FILE}'}}}]",
              "routes: [{upstream: web, response-headers: {add: {X-A: 'a ${file:FILE}'}}}]",
              "routes: [{upstream: web, error-pages: {404: {file: FILE}}}]",
              "routes: [{respond: {status: 200, file: FILE}}]",
              "routes: [{root: FILE}]",
              "upstreams: {web: {origins-file: FILE}}",
              "upstreams: {web: {origins: [ORIGIN], sticky: {cookie: a, secret-file: FILE}}}",
              "upstreams: {web: {origins: [ORIGIN], tls: {ca: FILE}}}",
              "upstreams: {web: {origins: [ORIGIN], tls: {certificate: FILE, key: FILE}}}",
              "cache: {disk: {path: FILE, capacity: 1GiB}}",
              "log: {access: {output: FILE}}",
              "admin: {token-file: FILE}",
              "acme: {authority: FILE, account-binding: {id: a, key-file: FILE}}",
              "cluster: {tls: {certificate: FILE, key: FILE, ca: FILE}, secret-file: FILE}")) {
        String key = naming.substring(0, naming.indexOf(':') + 1);
        String text =
            LEAST.replaceAll("(?m)^" + key + ".*\n", "")
                + naming.replace("FILE", named.toString()).replace("ORIGIN", "'https://a.test'")
                + "\ntests: [{request: http://a/, fields: {X-A: b}, expect: {response-fields: {X-A:"
                + " b}}}]\n";
        assertThat(control.problems(text))
            .as(naming + " with " + content)
            .isNotEmpty()
            .noneMatch(
                it -> it.kind() == Problem.Mistake.UNKNOWN_KEY && it.position().file().isEmpty())
            .noneMatch(it -> it.toString().contains("s3cret"));
      }
    }
  }

  @Test
  void aCommitIsInForceInTheFileAndAmongTheVersions() throws Exception {
    var outcome = commit(OTHER, "deploy", "larger heads", null);
    assertThat(outcome.changes())
        .extracting(SettingChange::path)
        .containsExactly("limits.head-size");
    assertThat(headKibibytes()).isEqualTo(50);
    assertThat(file).hasContent(OTHER);
    assertThat(control.versions())
        .containsExactly(
            new ConfigVersion(2, NOW, "deploy", "larger heads", 1),
            new ConfigVersion(1, NOW, "file", "", null));
    assertThat(opened(true).versions()).isEqualTo(control.versions());
    assertThat(control.text(1)).isEqualTo(LEAST);
    assertThat(control.changes(1, 2)).hasSize(1);
  }

  @Test
  void aTextWithProblemsChangesNothingAndAllOfThemAreTold() {
    assertThatThrownBy(() -> commit("x: 1\nloops: no\n", "a", "", null))
        .isInstanceOfSatisfying(
            Refused.class,
            it ->
                assertThat(it.problems())
                    .extracting(Problem::path)
                    .contains("x", "loops", "listeners"));
    assertThat(file).hasContent(LEAST);
    assertThat(appliance.steps).isEmpty();
  }

  @Test
  void whatCannotBePreparedLeavesAllAsItWas() {
    appliance.fails = true;
    refused(ProblemType.NOT_PREPARED, () -> commit(OTHER, "a", "", null));
    assertThat(file).hasContent(LEAST);
    assertThat(control.versions()).hasSize(1);
  }

  @Test
  void whatCannotBeAppliedBringsBackWhatRan() throws Exception {
    Event fails =
        () -> {
          throw new IllegalStateException("on purpose");
        };
    for (@Nullable Duration confirm : new @Nullable Duration[] {null, Duration.ofMinutes(1)}) {
      appliance.whenApplied = fails;
      refused(ProblemType.NOT_PREPARED, () -> commit(OTHER, "a", "", confirm));
      assertThat(headKibibytes()).isEqualTo(32);
      assertThat(control.trial()).isNull();
    }
    assertThat(String.join(" ", appliance.steps)).isEqualTo("prepare apply ".repeat(4).strip());
    assertThat(file).hasContent(LEAST);
    assertThat(control.versions()).hasSize(1);
    assertThat(directory.toFile().list((_, name) -> name.endsWith(".draft"))).isEmpty();
    commit(OTHER, "a", "", null);
    assertThat(headKibibytes()).isEqualTo(50);
  }

  @Test
  void aFileThatCannotBeWrittenLeavesAllAsItWas() throws IOException {
    Path gone = directory.resolve("gone");
    Files.createDirectory(gone);
    file = Files.writeString(gone.resolve("kamille.yaml"), LEAST);
    control = opened(true);
    // A directory of that name cannot be replaced by a file.
    Files.delete(file);
    Files.createDirectory(file);
    refused(ProblemType.FILE_CHANGED, () -> commit(OTHER, "a", "", null));
    assertThat(headKibibytes()).isEqualTo(32);
  }

  @Test
  void aFileThatSomebodyChangedIsNotWrittenOver() throws Exception {
    String theirs = LEAST + "limits: {head-size: 60KiB}\n";
    Files.writeString(file, theirs);
    refused(ProblemType.FILE_CHANGED, () -> commit(OTHER, "a", "", null));
    assertThat(file).hasContent(theirs);
    assertThat(control.reload()).isEmpty();
    assertThat(headKibibytes()).isEqualTo(60);
    assertThat(control.versions()).first().extracting(ConfigVersion::by).isEqualTo("file");
    commit(OTHER, "a", "", null);
    assertThat(file).hasContent(OTHER);
  }

  @Test
  void aTrialReturnsByItselfAndNeverIsInTheFile() throws Exception {
    commit(OTHER, "a", "", Duration.ofMinutes(1));
    assertThat(headKibibytes()).isEqualTo(50);
    assertThat(control.text()).isEqualTo(OTHER);
    assertThat(file).hasContent(LEAST);
    refused(ProblemType.TRIAL_OPEN, () -> commit(LEAST, "b", "", null));
    now = NOW.plusSeconds(60);
    Objects.requireNonNull(alarm).run();
    assertThat(headKibibytes()).isEqualTo(32);
    assertThat(control.text()).isEqualTo(LEAST);
    assertThat(control.trial()).isNull();
    assertThat(control.versions()).hasSize(1);
  }

  /** Alarms go by no clock that somebody sets. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClockThatIsSetBackMakesNoTrialLonger(boolean isGuarded) throws Exception {
    if (isGuarded) {
      guardedTrial(new TrialGuard.Limits(0.05, null));
    } else {
      commit(OTHER, "a", "", Duration.ofMinutes(1));
    }
    now = NOW.minus(Duration.ofHours(1));
    for (int i = 0; i < (isGuarded ? 60 : 1); i++) {
      assertThat(headKibibytes()).isEqualTo(50);
      Objects.requireNonNull(alarm).run();
    }
    assertThat(control.trial()).isNull();
    assertThat(headKibibytes()).isEqualTo(32);
  }

  @Test
  void aTrialThatIsKeptIsAVersion() throws Exception {
    commit(OTHER, "a", "try", Duration.ofMinutes(1));
    control.keepTrial(null);
    assertThat(alarm).isNull();
    assertThat(file).hasContent(OTHER);
    assertThat(control.versions()).first().isEqualTo(new ConfigVersion(2, NOW, "a", "try", 1));
    refused(ProblemType.NO_TRIAL, () -> control.keepTrial(null));
    refused(ProblemType.NO_TRIAL, () -> control.revertTrial(null));
  }

  @Test
  void aReloadEndsATrial() throws Exception {
    commit(OTHER, "a", "", Duration.ofMinutes(1));
    assertThat(control.reload()).isEmpty();
    assertThat(headKibibytes()).isEqualTo(32);
    assertThat(alarm).isNull();
  }

  @Test
  void whatWaitsForARestartIsToldAndIsNoTrial() throws Exception {
    refused(ProblemType.NEEDS_RESTART, () -> commit(RESTART, "a", "", Duration.ofMinutes(1)));
    commit(RESTART, "a", "", null);
    assertThat(control.pending()).extracting(SettingChange::path).containsExactly("loops");
    // What waits already does not stand in the way of a trial.
    commit(RESTART + "limits: {head-size: 50KiB}\n", "a", "", Duration.ofMinutes(1));
    assertThat(headKibibytes()).isEqualTo(50);
  }

  @Test
  void withoutWritesTheFileIsTheOnlyWay() throws IOException {
    control = opened(false);
    refused(ProblemType.WRITES_OFF, () -> commit(OTHER, "a", "", null));
    assertThat(control.text()).isEqualTo(LEAST);
  }

  @Test
  void aHundredVersionsAreKeptAndTheirNumbersNeverComeAgain() throws Exception {
    ConfigStore store = new ConfigStore(directory.resolve("many"));
    for (int i = 1; i <= ConfigStore.KEPT + 5; i++) {
      store.add("text " + i, NOW, "a", "");
    }
    assertThat(store.all()).hasSize(ConfigStore.KEPT);
    assertThat(store.text(5)).isNull();
    assertThat(store.text(6)).isEqualTo("text 6");
    ConfigStore again = new ConfigStore(directory.resolve("many"));
    assertThat(again.add("next", NOW, "a", "").number()).isEqualTo(ConfigStore.KEPT + 6);
  }

  @Test
  void whatSomebodyElseWroteStays() throws Exception {
    Path versions = Files.createDirectory(directory.resolve("many"));
    Path foreign = Files.writeString(versions.resolve("7.yaml"), "not ours");
    ConfigStore store = new ConfigStore(versions);
    assertThat(store.all()).isEmpty();
    assertThat(store.add("text\nof two lines\n", NOW, "a", "").number()).isEqualTo(8);
    assertThat(new ConfigStore(versions).text(8)).isEqualTo("text\nof two lines\n");
    assertThat(foreign).hasContent("not ours");
  }

  /** A kill leaves what was done so far: each step of a commit, and what the next start finds. */
  @Test
  void aKillAtAnyStepLeavesTheOldTextOrTheNewOne() throws Exception {
    byte[] next = OTHER.getBytes(StandardCharsets.UTF_8);
    FileDraft draft = FileDraft.write(file, next);
    assertThat(file).hasContent(LEAST);
    assertThat(opened(true).versions()).hasSize(1);
    draft.publish();
    assertThat(file).hasContent(OTHER);
    Files.writeString(directory.resolve("config/.3.yaml123"), "half");
    Files.writeString(directory.resolve("config/9.yaml"), "# kamille version {\"numb");
    ConfigControl started = opened(true);
    assertThat(started.text()).isEqualTo(OTHER);
    assertThat(started.versions()).extracting(ConfigVersion::number).containsExactly(10, 1);
  }

  private TrialGuard.Counts counts(long requests, long failures) {
    return new TrialGuard.Counts(requests, failures, durations.snapshot());
  }

  private void second(long requests, long failures) {
    appliance.counts = counts(requests, failures);
    now = now.plusSeconds(1);
    Objects.requireNonNull(alarm).run();
  }

  private void guardedTrial(TrialGuard.Limits limits) throws Refused {
    control.commit(new ChangeOrder("a", "", control.tag(), Duration.ofMinutes(1), limits), OTHER);
  }

  @Test
  void aGuardEndsATrialWhenMoreRequestsFail() throws Exception {
    appliance.counts = counts(1_000, 10);
    guardedTrial(new TrialGuard.Limits(0.05, null));
    second(1_100, 11);
    assertThat(headKibibytes()).isEqualTo(50);
    second(1_200, 40);
    assertThat(headKibibytes()).isEqualTo(32);
    assertThat(control.trial()).isNull();
    assertThat(Objects.requireNonNull(control.lastTrial()).why())
        .isEqualTo("the guard ended it: 15.0 % of requests failed, 1.0 % before");
    assertThat(file).hasContent(LEAST);
  }

  @Test
  void aGuardLeavesAloneWhatIsUsualAndWhatIsFew() throws Exception {
    guardedTrial(new TrialGuard.Limits(0.05, null));
    second(19, 19);
    assertThat(headKibibytes()).isEqualTo(50);
    for (int i = 2; i <= 12; i++) {
      second(1_000L * i, 19);
    }
    second(13_000, 400);
    assertThat(headKibibytes()).isEqualTo(50);
    now = NOW.plusSeconds(60);
    Objects.requireNonNull(alarm).run();
    assertThat(headKibibytes()).isEqualTo(32);
  }

  @Test
  void aGuardEndsATrialWhenRequestsTakeTooLong() throws Exception {
    guardedTrial(new TrialGuard.Limits(null, Duration.ofMillis(800)));
    long millis = Duration.ofMillis(1).toNanos();
    for (int i = 0; i < 99; i++) {
      durations.record(2000 * millis);
    }
    second(99, 0);
    assertThat(headKibibytes()).as("99 requests prove nothing").isEqualTo(50);
    for (int i = 0; i < 20_000; i++) {
      durations.record(millis);
    }
    second(20_099, 0);
    assertThat(headKibibytes()).as("less than one of a hundred is slow").isEqualTo(50);
    for (int i = 0; i < 300; i++) {
      durations.record(1000 * millis);
    }
    second(20_399, 0);
    assertThat(headKibibytes()).isEqualTo(32);
    assertThat(Objects.requireNonNull(control.lastTrial()).why())
        .matches("the guard ended it: 99 % of requests took up to [0-9.]+ ms, the limit is 800 ms");
  }

  @Test
  void aChangeOfAnotherTextThanTheOneThatRunsIsRefused() throws Exception {
    String tag = control.tag();
    ChangeOrder order = new ChangeOrder("a", "", "\"1-0\", " + tag, null, null);
    control.commit(order, OTHER);
    refused(ProblemType.VERSION_STALE, () -> control.commit(order, LEAST));
    refused(ProblemType.VERSION_STALE, () -> control.keepTrial("W/" + control.tag()));
    refused(ProblemType.VERSION_STALE, () -> control.revertTrial(tag));
    refused(ProblemType.VERSION_STALE, () -> control.reload(tag));
    assertThat(control.reload("*").changes()).isEmpty();
    assertThat(file).hasContent(OTHER);
  }

  @Test
  void aFailedRenameBringsBackWhatRan() throws Exception {
    // Between the check of the file and its rename somebody puts a directory in its place.
    Path other = directory.resolve("other");
    appliance.whenApplied =
        () -> {
          Files.move(file, other);
          Files.createDirectories(file.resolve("x"));
        };
    refused(ProblemType.FILE_UNWRITABLE, () -> commit(OTHER, "a", "", null));
    assertThat(headKibibytes()).isEqualTo(32);
    assertThat(appliance.steps).containsExactly("prepare", "apply", "prepare", "apply");
    assertThat(control.versions()).hasSize(1);
    assertThat(other).hasContent(LEAST);
    assertThat(directory.toFile().list((_, name) -> name.endsWith(".draft"))).isEmpty();
  }

  @Test
  void aDiskWithoutRoomForAVersionIsNoReasonToGoBack() throws Exception {
    Files.delete(directory.resolve("config/1.yaml"));
    Files.delete(directory.resolve("config"));
    Files.writeString(directory.resolve("config"), "no directory");
    assertThat(commit(OTHER, "a", "", null).version()).as("in no history").isZero();
    assertThat(file).hasContent(OTHER);
    assertThat(headKibibytes()).isEqualTo(50);
  }

  @Test
  void aCommitKeepsOwnerGroupAndMode() throws Exception {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    boolean isRoot = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    if (isRoot) {
      Files.setAttribute(file, "unix:uid", 1234);
      Files.setAttribute(file, "unix:gid", 4321);
    }
    Object before = Files.readAttributes(file, "unix:uid,gid,mode");
    commit(OTHER, "a", "", null);
    assertThat(file).hasContent(OTHER);
    assertThat(Files.readAttributes(file, "unix:uid,gid,mode")).isEqualTo(before);
  }

  /** Nobody could keep the trial: no draft can be made beside a file whose name is that long. */
  @Test
  void aTrialDoesNotBeginIfItsFileCannotBeWritten() throws Exception {
    file = Files.writeString(directory.resolve("k".repeat(240) + ".yaml"), LEAST);
    control = opened(true);
    assertThatThrownBy(() -> commit(OTHER, "a", "", Duration.ofMinutes(1)))
        .isInstanceOf(Refused.class)
        .hasMessageContainingAll(
            "The file cannot be written: no file can be made in", "user", "File name too long");
    assertThat(appliance.steps).isEmpty();
    assertThat(control.trial()).isNull();
  }
}
