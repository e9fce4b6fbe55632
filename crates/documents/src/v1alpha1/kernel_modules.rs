//! KernelModulesConfig: modules that are loaded now and at every boot.
