"""Dashboards of Landbridge's own metrics: burst and spending, and the link between sites."""

from landbridge.report.dashboards.model import Dashboard, DashboardPanel, PanelQuery, PanelUnit


def _stat(
    title: str, expression: str, *, unit: PanelUnit = "short", bad: float | None = None, about: str = ""
) -> DashboardPanel:
    return DashboardPanel(title, "stat", (PanelQuery(expression),), unit, width=6, bad=bad, about=about)


def _graph(
    title: str, *queries: tuple[str, str], unit: PanelUnit = "short", width: int = 12, about: str = ""
) -> DashboardPanel:
    return DashboardPanel(title, "timeseries", tuple(PanelQuery(*query) for query in queries), unit, width, about=about)


BURST = Dashboard(
    "landbridge-burst",
    "Landbridge: bursting and spending",
    (
        (
            _stat("Controllers that act", "sum(landbridge_burst_active)", about="0: no node is launched"),
            _stat(
                "Since the last pass",
                "time() - max(landbridge_burst_last_pass_timestamp_seconds)",
                unit="s",
                bad=120,
            ),
            _stat("Instances without a node", "sum(landbridge_burst_unowned_instances)", bad=1),
            _stat("Refused terminations", "sum(landbridge_burst_refused_terminations) or vector(0)", bad=1),
        ),
        (
            _graph("Instances", ("sum by (pool, state) (landbridge_burst_instances)", "{{pool}} {{state}}")),
            _graph(
                "Launches in an hour",
                ("sum by (pool) (increase(landbridge_burst_launched_instances_total[1h]))", "{{pool}} launched"),
                ("sum by (pool, code) (increase(landbridge_burst_refused_launches_total[1h]))", "{{pool}} {{code}}"),
            ),
        ),
        (
            _graph(
                "Spending by month",
                ("sum by (month) (landbridge_burst_spent_usd)", "{{month}} spent"),
                ("sum by (month) (landbridge_burst_held_usd)", "{{month}} held"),
                unit="currencyUSD",
                about="Terminated instances, and worst-case holds of running ones",
            ),
            _graph(
                "Spending by account",
                ("sum by (account, month) (landbridge_burst_spent_usd)", "{{account}} {{month}}"),
                unit="currencyUSD",
            ),
        ),
        (
            _graph(
                "Time from launch to ready, 95%",
                (
                    "histogram_quantile(0.95, sum by (pool, le) (rate(landbridge_burst_ready_seconds_bucket[6h])))",
                    "{{pool}}",
                ),
                unit="s",
            ),
            _graph(
                "Stops",
                ("sum by (pool, code) (landbridge_burst_breaker_open)", "{{pool}} {{code}}"),
                ("sum by (code) (landbridge_burst_jobs_backed_off)", "jobs after {{code}}"),
                ("sum by (code) (landbridge_burst_scheduled_events)", "scheduled {{code}}"),
            ),
        ),
    ),
)
LINK = Dashboard(
    "landbridge-link",
    "Landbridge: link between sites",
    (
        (
            _stat("Failed checks", "count(landbridge_link_check == 0) or vector(0)", bad=1),
            _stat("Checks not judged", "sum(landbridge_link_not_judged)", bad=1),
            _stat(
                "Since the last check", "time() - max(landbridge_link_checked_timestamp_seconds)", unit="s", bad=3600
            ),
            _stat("Smallest path MTU", "min(landbridge_link_path_mtu_bytes)", unit="bytes"),
        ),
        (
            _graph("Round-trip time", ("landbridge_link_round_trip_seconds", "{{host}} {{address}}"), unit="s"),
            _graph("Faults by cause", ("sum by (cause) (landbridge_link_fault)", "{{cause}}")),
        ),
        (_graph("Checks", ("min by (check, host) (landbridge_link_check)", "{{host}} {{check}}"), width=24),),
    ),
)
DASHBOARDS = {dashboard.uid.removeprefix("landbridge-"): dashboard for dashboard in (BURST, LINK)}
