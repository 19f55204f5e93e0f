networksdir = $(pkgdatadir)/networks
dist_networks_DATA =
profilesdir = $(pkgdatadir)/profiles
dist_profiles_DATA =
