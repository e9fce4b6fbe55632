//! The documents that kubeadm passes on: to whom, and which fields they may begin with. Their text is left alone.

/// A component with a document of its own.
pub(super) struct Component {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    /// The first fields of paths, of all versions from 1.16 to 1.37, between blanks.
    fields: &'static str,
}

/// Every component that kubeadm passes a document on to.
const COMPONENTS: &[Component] = &[
    Component { group: "kubelet.config.k8s.io", kind: "KubeletConfiguration", fields: KUBELET },
    Component { group: "kubeproxy.config.k8s.io", kind: "KubeProxyConfiguration", fields: KUBE_PROXY },
];

const KUBELET: &str = "
    address allowedUnsafeSysctls authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS clusterDNS
    clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize
    containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota
    cpuCFSQuotaPeriod cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod crashLoopBackOff
    defaultPodSysctls enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler
    enableDebuggingHandlers enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery
    enforceNodeAllocatable eventBurst eventRecordQPS evictionHard evictionMaxPodGracePeriod
    evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod failCgroupV1
    failSwapOn featureGates fileCheckFrequency hairpinMode healthzBindAddress healthzPort httpCheckFrequency
    imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge
    imagePullCredentialsVerificationPolicy imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit
    kernelMemcgNotification kubeAPIBurst kubeAPIQPS kubeReserved kubeReservedCgroup kubeletCgroups
    localStorageCapacityIsolation logging makeIPTablesUtilChains maxOpenFiles maxParallelImagePulls maxPods
    memoryManagerPolicy memoryReservationPolicy memorySwap memoryThrottlingFactor mergeDefaultEvictionSettings
    nodeLeaseDurationSeconds nodeStatusMaxImages nodeStatusReportFrequency nodeStatusUpdateFrequency oomScoreAdj
    podCIDR podLogsDir podPidsLimit podsPerCore port preloadedImagesVerificationAllowlist protectKernelDefaults
    providerID qosReserved readOnlyPort registerNode registerWithTaints registryBurst registryPullQPS
    reservedMemory reservedSystemCPUs resolvConf rotateCertificates runOnce runtimeRequestTimeout seccompDefault
    serializeImagePulls serverTLSBootstrap showHiddenMetricsForVersion shutdownGracePeriod
    shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill staticPodPath
    staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemCgroups systemReserved
    systemReservedCgroup tlsCertFile tlsCipherSuites tlsCurvePreferences tlsMinVersion tlsPrivateKeyFile
    topologyManagerPolicy topologyManagerPolicyOptions topologyManagerScope tracing userNamespaces
    volumePluginDir volumeStatsAggPeriod
";

const KUBE_PROXY: &str = "
    bindAddress bindAddressHardFail clientConnection clusterCIDR configSyncPeriod conntrack detectLocal
    detectLocalMode enableProfiling featureGates healthzBindAddress hostnameOverride iptables ipvs logging
    metricsBindAddress mode nftables nodePortAddresses oomScoreAdj portRange showHiddenMetricsForVersion
    udpIdleTimeout windowsRunAsService winkernel
";

/// The component whose document this is.
pub(super) fn component(group: &str, kind: &str) -> Option<&'static Component> {
    COMPONENTS.iter().find(|component| component.group == group && component.kind == kind)
}

impl Component {
    pub(super) fn has_field(&self, name: &str) -> bool {
        self.fields.split_whitespace().any(|field| field == name)
    }
}
