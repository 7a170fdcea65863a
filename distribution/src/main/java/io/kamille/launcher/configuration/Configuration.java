package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.setting.SettingChanges;
import io.kamille.core.setting.ValueTypes;
import java.util.List;

/** Everything an operator decides, read and checked. Immutable. */
public final class Configuration {

  static final Setting<Integer> LOOPS =
      Setting.of(
              "loops",
              ValueTypes.wholeNumber(1, 1_024),
              "Event loops, each on a thread of its own. One per processor serves most machines"
                  + " best.")
          .defaultsTo(
              "the number of processors", values -> Runtime.getRuntime().availableProcessors())
          .appliesOnRestart();

  /** The declaration of the whole file. */
  static final Section FILE =
      Section.one(
          "",
          "The configuration file.",
          ListenerSettings.SECTION,
          LOOPS,
          EngineSettings.SECTION,
          UpstreamSettings.SECTION,
          RouteSettings.SECTION,
          CacheSettings.SECTION,
          LimitSettings.SECTION,
          OverloadSettings.SECTION,
          ForwardingSettings.SECTION,
          LogSettings.SECTION,
          AdminSettings.SECTION);

  private final SectionValues values;
  private final List<ListenerSettings> listeners;
  private final int loops;
  private final EngineSettings engine;
  private final List<UpstreamSettings> upstreams;
  private final List<RouteSettings> routes;
  private final CacheSettings cache;
  private final LimitSettings limits;
  private final OverloadSettings overload;
  private final ForwardingSettings forwarding;
  private final LogSettings log;
  private final AdminSettings admin;

  /** Takes values that were read and cross-checked without a problem. */
  Configuration(SectionValues values) {
    this.values = values;
    listeners = values.all(ListenerSettings.SECTION).stream().map(ListenerSettings::of).toList();
    loops = values.value(LOOPS);
    engine = EngineSettings.of(values.one(EngineSettings.SECTION));
    upstreams = values.all(UpstreamSettings.SECTION).stream().map(UpstreamSettings::of).toList();
    routes = values.all(RouteSettings.SECTION).stream().map(RouteSettings::of).toList();
    cache = CacheSettings.of(values.one(CacheSettings.SECTION));
    limits = LimitSettings.of(values.one(LimitSettings.SECTION));
    overload = OverloadSettings.of(values.one(OverloadSettings.SECTION));
    forwarding = ForwardingSettings.of(values.one(ForwardingSettings.SECTION));
    log = LogSettings.of(values.one(LogSettings.SECTION));
    admin = AdminSettings.of(values.one(AdminSettings.SECTION));
  }

  public List<ListenerSettings> listeners() {
    return listeners;
  }

  /** How many event loops run. */
  public int loops() {
    return loops;
  }

  public EngineSettings engine() {
    return engine;
  }

  /** The upstreams in the order of the file; names are unique. */
  public List<UpstreamSettings> upstreams() {
    return upstreams;
  }

  /**
   * The routes in the order of the file, which has no meaning; host and path together are unique.
   */
  public List<RouteSettings> routes() {
    return routes;
  }

  public CacheSettings cache() {
    return cache;
  }

  public LimitSettings limits() {
    return limits;
  }

  public OverloadSettings overload() {
    return overload;
  }

  public ForwardingSettings forwarding() {
    return forwarding;
  }

  public LogSettings log() {
    return log;
  }

  public AdminSettings admin() {
    return admin;
  }

  /** Every setting in which this differs from what runs, by name and with both values. */
  public List<SettingChange> changesFrom(Configuration running) {
    return SettingChanges.between(running.values, values);
  }

  /**
   * What holds once this is loaded over what runs: settings that need a restart stay as they run,
   * so that the next comparison names them again.
   */
  public Configuration reloadedOver(Configuration running) {
    return new Configuration(SettingChanges.reloaded(running.values, values));
  }
}
