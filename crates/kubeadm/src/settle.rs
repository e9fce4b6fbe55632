//! Up to v1beta3 the cluster says how long to wait for its control plane; since v1beta4 each node says it for itself.
use crate::hub::{Documents, Timeouts};

impl Documents {
    /// Brings documents of any version into the hub's own form: a waiting time that an init or join can say stands
    /// there. One of zero means "as usual" to the versions that have it, and no more than that to us.
    pub fn settle(&mut self) {
        settle(self);
    }
}

fn settle(documents: &mut Documents) {
    let Documents { cluster: Some(cluster), init, join, .. } = documents else { return };
    let waiting = &mut cluster.api_server.timeout_for_control_plane;
    let Some(time) = waiting.filter(|time| !time.is_zero()) else { return };
    if let Some(join) = join {
        let own = &mut join.timeouts.get_or_insert_with(Timeouts::default).control_plane_component_health_check;
        *own = own.or(Some(time));
    }
    if let Some(init) = init {
        let own = &mut init.timeouts.get_or_insert_with(Timeouts::default).control_plane_component_health_check;
        if *own.get_or_insert(time) == time {
            *waiting = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hub::{ApiServer, ClusterConfiguration, InitConfiguration, JoinConfiguration},
        scalar::Duration,
    };

    fn cluster(time: Option<Duration>) -> ClusterConfiguration {
        let api_server = ApiServer { timeout_for_control_plane: time, ..ApiServer::default() };
        ClusterConfiguration { api_server, ..ClusterConfiguration::default() }
    }

    fn times(documents: &Documents) -> [Option<Duration>; 3] {
        let of = |timeouts: &Option<Timeouts>| timeouts.as_ref()?.control_plane_component_health_check;
        [
            documents.cluster.as_ref().and_then(|cluster| cluster.api_server.timeout_for_control_plane),
            documents.init.as_ref().and_then(|init| of(&init.timeouts)),
            documents.join.as_ref().and_then(|join| of(&join.timeouts)),
        ]
    }

    #[test]
    fn init_and_join_of_one_file_wait_as_long_as_the_cluster_says() {
        let six = Some(Duration::minutes(6));
        let (init, join) = (Some(InitConfiguration::default()), Some(JoinConfiguration::default()));
        let mut documents = Documents { cluster: Some(cluster(six)), init, join, ..Documents::default() };
        settle(&mut documents);
        assert_eq!(times(&documents), [None, six, six]);
    }

    #[test]
    fn without_an_init_the_cluster_keeps_it() {
        let six = Some(Duration::minutes(6));
        let mut documents = Documents { cluster: Some(cluster(six)), ..Documents::default() };
        settle(&mut documents);
        assert_eq!(times(&documents), [six, None, None]);
    }

    #[test]
    fn an_init_that_says_otherwise_is_not_overruled() {
        let (six, nine) = (Some(Duration::minutes(6)), Some(Duration::minutes(9)));
        let timeouts = Some(Timeouts { control_plane_component_health_check: nine, ..Timeouts::default() });
        let init = Some(InitConfiguration { timeouts, ..InitConfiguration::default() });
        let mut documents = Documents { cluster: Some(cluster(six)), init, ..Documents::default() };
        settle(&mut documents);
        assert_eq!(times(&documents), [six, nine, None]);
    }
}
